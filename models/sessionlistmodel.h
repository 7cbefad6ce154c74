#pragma once

#include "engine/engineclient.h"

#include <QAbstractListModel>
#include <array>

namespace models {

engine::SessionGroup sessionGroup(const engine::Session &session);

// Sessions under the headings Needs you, Running, Queued, Idle. Rows are merged by id and move only when their group
// changes, so selection and scroll survive. The filter goes to the query. GUI thread.
class SessionListModel final : public QAbstractListModel
{
    Q_OBJECT

public:
    enum Role { IdRole = Qt::UserRole, HeadingRole, GroupRole, CountRole, AgentRole, StateRole, ActiveRole, QueuedRole,
                ApprovalsRole, WarmRole, UpdatedRole, BlocksRole };

    explicit SessionListModel(engine::EngineClient &client, QObject *parent = nullptr);

    void load();
    void setFilter(const QString &text);
    const QString &filter() const { return m_filter; }
    void setAgent(const engine::AgentId &agent);
    bool isLoaded() const { return m_loaded; }
    int sessionCount() const;
    QModelIndex indexOf(const engine::SessionId &id) const;
    engine::SessionId idAt(const QModelIndex &index) const;
    const engine::Session *sessionAt(const QModelIndex &index) const;

    int rowCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role) const override;
    Qt::ItemFlags flags(const QModelIndex &index) const override;
    bool canFetchMore(const QModelIndex &parent) const override;
    void fetchMore(const QModelIndex &parent) override;

signals:
    void loaded();
    void failed(const engine::Error &error);

private:
    static constexpr int groups = 4;
    static constexpr int pageSize = 500;
    struct Place
    {
        int group = -1;
        int index = -1;
    };

    void ask(int offset);
    void receive(int offset, const QList<engine::Session> &sessions);
    void apply(const engine::FeedBatch &batch);
    void merge(const engine::Session &session, bool onTop);
    void remove(const engine::SessionId &id);
    void insert(const engine::Session &session, bool onTop);
    void showHeading(int group);
    void hideHeadingIfEmpty(int group);
    bool matches(const engine::Session &session) const;
    Place find(const engine::SessionId &id) const;
    Place placeOf(int row) const;
    int headingRow(int group) const;
    int rowOf(Place place) const { return headingRow(place.group) + 1 + place.index; }
    QVariant sessionData(const engine::Session &session, int role) const;

    engine::EngineClient &m_client;
    std::array<QList<engine::Session>, groups> m_sessions;
    std::array<bool, groups> m_heading{};
    QString m_filter;
    engine::AgentId m_agent;
    int m_epoch = 0;
    int m_asked = 0; // sessions asked for so far
    bool m_more = false;
    bool m_asking = false;
    bool m_loaded = false;
};

} // namespace models
