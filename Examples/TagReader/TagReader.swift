// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import PhoneScreens

/// Scans cards for messages, shows their content, and writes them to other cards.
///
/// On a terminal that can draw, it uses the whole screen. Otherwise, and with `--plain`, it reads commands from standard
/// input, one per line. With a simulator it shows its screens on the phone there.
@main
struct TagReader {
    @MainActor
    static func main() async {
        StandardOutput.prepare()
        let reader = MessageReader()
        switch Array(CommandLine.arguments.dropFirst()) {
        case []: break
        case ["--plain"]: StandardOutput.end(await plain(reader))
        case ["--background"]: StandardOutput.end(await BackgroundInterface(reader: reader).run())
        case let arguments:
            guard ["-h", "--help"].contains(arguments[0]) else {
                // The first unexpected argument.
                let isOption = ["--plain", "--background"].contains(arguments[0])
                let word = isOption && arguments.count > 1 ? arguments[1] : arguments[0]
                StandardError.writeLine("TagReader does not take \(word) here. See: TagReader --help")
                StandardOutput.end(2)
            }
            StandardOutput.writeLines(Self.usage)
            StandardOutput.end(0)
        }
        if takesNoCommands, let phone = SimulatedPhone.ofProcess {
            StandardOutput.end(await PhoneInterface(reader: reader, phone: phone).run())
        }
        guard isOnTerminal, canDraw else { StandardOutput.end(await plain(reader)) }
        // During the full screen, standard error is not the terminal. The sheet is drawn on the terminal anyway.
        _ = unsafe setenv("NFC_SHEET", "terminal", 1)
        if let status = await ScreenInterface(reader: reader).run() { StandardOutput.end(status) }
        StandardOutput.end(await plain(reader))
    }

    private static func plain(_ reader: MessageReader) async -> Int32 {
        if sheet == "terminal" || (isOnTerminal && sheet.isEmpty) {
            _ = unsafe setenv("NFC_SHEET", "text", 1)
        }
        return await CommandInterface(reader: reader, hasPerson: isOnTerminal).run()
    }

    private static var isOnTerminal: Bool { isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1 }

    /// Whether standard input is a terminal or nothing, and not a file or pipe with commands.
    private static var takesNoCommands: Bool {
        var status = stat()
        return unsafe fstat(STDIN_FILENO, &status) == 0 && status.st_mode & S_IFMT == S_IFCHR
    }

    /// Whether the terminal can draw, and the person wants that.
    private static var canDraw: Bool {
        let terminal = ProcessInfo.processInfo.environment["TERM"] ?? ""
        return !["", "dumb"].contains(terminal) && ["", "terminal"].contains(sheet)
    }

    private static var sheet: String { ProcessInfo.processInfo.environment["NFC_SHEET"] ?? "" }

    private static let usage = """
        Usage: TagReader [--plain | --background]

        Scans cards for messages, shows their content, and writes them to other cards.
        On a terminal it shows the messages and the keys. Otherwise it reads commands
        from standard input, one per line. The command help lists them. With the reader
        simulator its screens are on the phone there. While it runs, it also receives
        the messages of cards with a link to its domains.

          --plain       Use lines and commands on a terminal too, for screen readers.
                        TERM=dumb and NFC_SHEET=text do the same.
          --background  The system starts it like this for a card: it opens a window,
                        or saves the message if there is no desktop.

          TagReader
          printf 'scan\\nshow 1\\n' | TagReader

        The exit status of a script is 0 when all went well, 1 when a command failed or
        its output can't be written, and 3 when there is no reader.

        Environment:
          TAGREADER_STORE  the file that keeps the messages between runs
          NFC_READER       the reader: virtual, pcsc[:NAME], pn532:PATH or simulator
          NFC_TAGS         image files for the virtual reader, separated by commas
        """
}
