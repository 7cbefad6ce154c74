#include "engine/types/ids.h"

#include <QRandomGenerator>

namespace engine {

QString newIdValue(const char *prefix)
{
    const quint64 bits = QRandomGenerator::system()->generate64();
    return QString::fromLatin1(prefix) + u'-' + QString::number(bits, 16).rightJustified(16, u'0');
}

} // namespace engine
