// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc

/// Scans cards for messages, shows what they say, and writes them to other cards.
///
/// With a terminal it is interactive; without one it runs commands from standard input, one a line.
@main
struct TagReader {
    static func main() async {
        let reader = MessageReader()
        if CommandLine.arguments.dropFirst() == ["--background"] {
            exit(await BackgroundInterface(reader: reader).run())
        }
        if CommandLine.arguments.count > 1 {
            let wantsHelp = ["-h", "--help"].contains(CommandLine.arguments[1])
            print(Self.usage)
            exit(wantsHelp ? 0 : 2)
        }
        let isInteractive = isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1
        if isInteractive {
            exit(await ScreenInterface(reader: reader).run())
        }
        exit(await CommandInterface(reader: reader).run())
    }

    private static let usage = """
        Usage: TagReader [--background]

        Scans cards for messages, shows what they say, and writes them to other cards.
        In a terminal it shows the messages and says which keys it takes. Without one it
        runs commands from standard input, one a line; the command help lists them.
        While it runs it is given the messages of cards with a link of its domains; with
        --background, as the system starts it, it does nothing else.

          TagReader
          printf 'scan\\nshow 1\\n' | TagReader

        Environment:
          TAGREADER_STORE  the file that keeps the messages between runs
          NFC_READER       the reader: virtual, pcsc[:NAME] or pn532:PATH
          NFC_TAGS         image files for the virtual reader, with commas between them
        """
}
