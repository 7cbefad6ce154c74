#include "app/doors/commandline.h"

#include <vector>

// The engine and the commands without a window; links no widget. Alone it means --headless.
int main(int argc, char **argv)
{
    static char headless[] = "--headless";
    std::vector<char *> words(argv, argv + argc);
    if (argc == 1)
        words.push_back(headless);
    words.push_back(nullptr);
    return app::runCommandLine(int(words.size()) - 1, words.data());
}
