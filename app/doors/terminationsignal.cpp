#include "app/doors/terminationsignal.h"

#include <csignal>
#include <sys/signalfd.h>
#include <unistd.h>

namespace app {

namespace {

sigset_t terminationSet()
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    return set;
}

int openDescriptor()
{
    TerminationSignal::block();
    const sigset_t set = terminationSet();
    return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

} // namespace

void TerminationSignal::block()
{
    const sigset_t set = terminationSet();
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

TerminationSignal::TerminationSignal() : m_descriptor(openDescriptor()), m_notifier(m_descriptor, QSocketNotifier::Read)
{
    connect(&m_notifier, &QSocketNotifier::activated, this, &TerminationSignal::read);
}

TerminationSignal::~TerminationSignal()
{
    const sigset_t set = terminationSet();
    pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
    close(m_descriptor);
}

void TerminationSignal::read()
{
    signalfd_siginfo info;
    while (::read(m_descriptor, &info, sizeof info) == sizeof info)
        emit received(int(info.ssi_signo));
}

} // namespace app
