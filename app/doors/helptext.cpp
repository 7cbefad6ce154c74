#include "app/doors/arguments.h"

namespace app {

QString helpText()
{
    return QStringLiteral(R"(Signalbox: operations console for coding agents.

  signalbox [--demo] [--data DIR]         open the window
  signalbox --headless                    the engine without a window, until SIGTERM or SIGINT
  signalbox --tour DIR                    write a PNG of every page of the demo

  signalbox run [--session ID | --agent NAME [--workspace DIR] [--title TEXT]]
                [--key KEY] [--wait | --no-wait] [--follow] PROMPT
  signalbox sessions [list | show ID]
  signalbox approvals [list [--all] | show ID]
  signalbox approvals resolve ID (--approve | --deny) --digest DIGEST
                [--note TEXT] [--input FILE] [--key KEY] [--continue]
  signalbox approvals continue RUN [--wait]
  signalbox approvals extend ID SECONDS
  signalbox agents list
  signalbox sandboxes [list | leftovers | tidy | images]
  signalbox sandboxes build-image [--tag TAG] [--base IMAGE | --base-archive TAR]
  signalbox doctor                        what is in order and what is not, with the remedy

  --data DIR   data folder (default: $XDG_DATA_HOME/signalbox)
  --demo       the demo's own data folder with agents that need no key or network
  --json       one JSON document on standard output
  --digest     the action that was reviewed, from `approvals show`; on a terminal it may be left out: the action
               is shown and asked about
  --input      changed arguments (a JSON object) or the answers to a question; - reads standard input
  tidy         removes leftovers that belong to no session
  --base-archive  a tar of a whole system, imported instead of fetching an image
  PROMPT       - reads standard input
  --version, --help

A command is carried out by the instance that holds the data folder, else by the command itself.
Exit codes: 0 done, 1 failed, 2 wrong command line, 3 refused (conflict, stale, expired, action changed),
4 not found, 5 storage, 6 a decision is needed, 7 no engine available.
)");
}

} // namespace app
