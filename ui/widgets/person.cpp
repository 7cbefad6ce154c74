#include "ui/widgets/person.h"

#include <QCoreApplication>
#include <QVariant>

namespace ui {
namespace {

constexpr const char *personProperty = "signalboxPerson";

} // namespace

QString personName()
{
    const QString chosen = qApp->property(personProperty).toString();
    if (!chosen.isEmpty())
        return chosen;
    for (const char *variable : {"USER", "LOGNAME", "USERNAME"}) {
        const QString account = qEnvironmentVariable(variable);
        if (!account.isEmpty())
            return account;
    }
    return QCoreApplication::translate("ui::Person", "operator");
}

void setPersonName(const QString &name)
{
    qApp->setProperty(personProperty, name.trimmed());
}

} // namespace ui
