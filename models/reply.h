#pragma once

#include <QFuture>
#include <QFutureWatcher>

namespace models {

// Calls `handler` with the answer in the thread of `context`, or never when `context` goes first. (QFuture::then with a
// context asserts in Qt 6.4 when that context is gone before the answer.) A future that ends without an answer is passed over.
template <class T, class Handler> void onReply(const QFuture<T> &future, QObject *context, Handler handler)
{
    auto *watcher = new QFutureWatcher<T>(context);
    QObject::connect(watcher, &QFutureWatcherBase::finished, context, [watcher, handler = std::move(handler)]() mutable {
        watcher->deleteLater();
        if (watcher->future().resultCount() > 0)
            handler(watcher->result());
    });
    watcher->setFuture(future);
}

} // namespace models
