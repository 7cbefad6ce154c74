// Runs the stand-in for the Messages API by hand: prints {"port":N} and serves until it is ended.
#include "tests/support/standinanthropic.h"

#include <QCoreApplication>
#include <cstdio>

int main(int argc, char **argv)
{
    QCoreApplication application(argc, argv);
    const int wanted = argc > 2 && QByteArray(argv[1]) == "--port" ? QByteArray(argv[2]).toInt() : 0;
    const StandInAnthropic standIn{quint16(wanted)};
    if (standIn.port() == 0) {
        std::fprintf(stderr, "standin-anthropic: cannot listen on 127.0.0.1:%d\n", wanted);
        return 1;
    }
    std::printf("{\"port\":%d}\n", standIn.port());
    std::fflush(stdout);
    return application.exec();
}
