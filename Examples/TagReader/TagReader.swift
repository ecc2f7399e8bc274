// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import PhoneScreens
import TextSafety

/// Scans cards for messages, shows their records, and writes them to other cards.
///
/// ``MessageReader`` contains the Core NFC part of the app. ``Screens`` is the interface for the simulated phone and a
/// full-screen terminal; ``CommandInterface`` is the line-based interface.
@main
struct TagReader {
    @MainActor
    static func main() async {
        let reader = MessageReader()
        switch Array(CommandLine.arguments.dropFirst()) {
        case []: break
        case ["--plain"]: exit(await plain(reader))
        case ["--background"]: exit(await BackgroundInterface(reader).run())
        case ["-h"], ["--help"]:
            say(usage)
            exit(0)
        case let arguments:
            complain("TagReader does not accept \(arguments.joined(separator: " ")). See: TagReader --help")
            exit(2)
        }
        if takesNoCommands, let phone = SimulatedPhone.ofProcess {
            say("The app is running on the simulated phone. To quit, press Ctrl-C.")
            let app = Screens(reader)
            app.onChange = { phone.show(app.screen) }
            app.begin()
            for await id in phone.presses { Task { await app.press(id) } }
            exit(0)
        }
        if isOnTerminal, canDraw {
            // Draw the scanning sheet on the terminal.
            _ = unsafe setenv("NFC_SHEET", "terminal", 1)
            if let status = await TerminalInterface(Screens(reader)).run() { exit(status) }
        }
        exit(await plain(reader))
    }

    @MainActor
    private static func plain(_ reader: MessageReader) async -> Int32 {
        if sheet == "terminal" || (isOnTerminal && sheet.isEmpty) { _ = unsafe setenv("NFC_SHEET", "text", 1) }
        return await CommandInterface(reader, hasPerson: isOnTerminal).run()
    }

    private static var isOnTerminal: Bool { isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1 }

    /// Whether standard input is a terminal or /dev/null, and not a file or pipe with commands.
    private static var takesNoCommands: Bool {
        var status = stat()
        return unsafe fstat(STDIN_FILENO, &status) == 0 && status.st_mode & S_IFMT == S_IFCHR
    }

    /// Whether the terminal supports full-screen drawing and the user has not turned it off.
    private static var canDraw: Bool {
        let terminal = ProcessInfo.processInfo.environment["TERM"] ?? ""
        return !["", "dumb"].contains(terminal) && ["", "terminal"].contains(sheet)
    }

    private static var sheet: String { ProcessInfo.processInfo.environment["NFC_SHEET"] ?? "" }

    private static let usage = """
        Usage: TagReader [--plain | --background]

        Scans cards for messages, shows their content, and writes them to other cards.
        On a terminal it shows the messages and the keys. Otherwise it reads commands
        from standard input, one per line. Type help for a list. With the reader
        simulator, its screens appear on the simulated phone. While it runs, it also
        receives the messages of cards with a link to its domains.

          --plain       Use lines and commands on a terminal too, for screen readers.
                        TERM=dumb and NFC_SHEET=text do the same.
          --background  The system starts the app like this for a card. It opens a
                        window, or saves the message if there is no desktop.

          TagReader
          printf 'scan\\nshow 1\\n' | TagReader

        The exit status of a script is 0 when all went well, 1 when a command failed,
        and 3 when there is no reader.

        Environment:
          TAGREADER_STORE  the file that keeps the messages between runs
          NFC_READER       the reader: virtual, pcsc[:NAME], pn532:PATH or simulator
          NFC_TAGS         image files for the virtual reader, separated by commas
        """
}

/// Explains what failed and what to do, in full sentences. Includes the exit status for a script.
struct Failure: Error {
    var text: String
    var status: Int32 = 1
}

/// Prints text immediately. Escapes invisible characters, so that a card's text can't control the terminal.
func say(_ text: String, terminator: String = "\n") {
    put(VisibleText.escaped(text, keepsLineBreaks: true) + terminator, to: .standardOutput)
}

/// Prints a line to standard error.
func complain(_ text: String) { put(VisibleText.escaped(text) + "\n", to: .standardError) }

/// Writes text unchanged. Errors are ignored, because they can't be reported anywhere.
func put(_ text: String, to file: FileHandle) { try? file.write(contentsOf: Data(text.utf8)) }
