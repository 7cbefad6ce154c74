#pragma once

#include <QElapsedTimer>
#include <QList>
#include <algorithm>
#include <cstdio>

// One line per figure: what, value, its floor or peer in the same run, their ratio, and the goal it is held against.
namespace bench {

inline double percentile(QList<double> values, double share)
{
    if (values.isEmpty())
        return 0;
    std::sort(values.begin(), values.end());
    return values.at(qsizetype(share * double(values.size() - 1)));
}

inline double median(const QList<double> &values)
{
    return percentile(values, 0.5);
}

inline void report(const char *what, double value, const char *unit, const char *peer, double peerValue, const char *goal, bool met)
{
    std::printf("%-46s %12.3f %-9s | %-34s %12.3f | ratio %8.3f | goal %-18s %s\n", what, value, unit, peer, peerValue,
                peerValue != 0 ? value / peerValue : 0, goal, met ? "met" : "MISSED");
    std::fflush(stdout);
}

} // namespace bench
