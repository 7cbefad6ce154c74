#include "sandbox/channel.h"

namespace sandbox {

// Channels without a gateway open no streams, so there is nothing to send on.
void Channel::gatewaySend(quint32, const QByteArray &) {}

void Channel::gatewayEnd(quint32) {}

void Channel::gatewayReset(quint32) {}

void Channel::gatewayCredit(quint32, quint32) {}

qint64 Channel::gatewayPending(quint32) const
{
    return 0;
}

} // namespace sandbox
