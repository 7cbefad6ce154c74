#pragma once

#include "tests/support/standinanthropic.h"
#include "tests/support/standinscript.h"

#include <QHash>
#include <QMutex>
#include <QObject>
#include <QStringList>
#include <QTcpSocket>

// Shared between the thread that answers and the test that looks.
struct StandInState
{
    mutable QMutex mutex;
    QList<StandInAnthropic::Request> requests;
    QStringList paths;
    QHash<QString, int> failures; // of each statusonce
};

// One HTTP/1.1 connection, kept alive; requests are answered one after the other.
class StandInConnection : public QObject
{
    Q_OBJECT

public:
    StandInConnection(QTcpSocket *socket, StandInState &state, QObject *parent);

protected:
    // The Messages API, unless a derived class speaks another one.
    virtual StandInAnswer respond(const QByteArray &method, const QByteArray &path, const QByteArray &body);
    QByteArray header(const char *name) const { return m_headers.value(name); }
    StandInState &state() { return m_state; }

private:
    void read();
    // True when a whole request was taken from the buffer.
    bool takeRequest();
    void answer(const QByteArray &method, const QByteArray &path, const QByteArray &body);
    StandInAnswer answerMessages(const StandInPlan &plan);
    void note(const QByteArray &path, const StandInPlan &plan);
    void writeWhole(const StandInAnswer &answer, bool withBody = true);
    void writeSteps(const StandInAnswer &answer);
    void writeStep(qsizetype index);
    void endAnswer();

    QTcpSocket *m_socket;
    StandInState &m_state;
    QByteArray m_buffer;
    QHash<QByteArray, QByteArray> m_headers; // lower-case names, of the request being answered
    StandInAnswer m_answer;
    qsizetype m_noted = -1;
    bool m_busy = false;
};
