// SPDX-License-Identifier: Apache-2.0
import Glibc
import LinuxSupport
import NFCReaders
import NFCSessions
import TextSafety

struct Options {
    private(set) var reader = ReaderConfiguration.ofProcess
    private(set) var allowsCustomSchemes = false
    private(set) var logsContent = false
    private(set) var json = false

    private static let usage = """
        Usage: nfcd [--reader READER] [--tags FILES] [--allow-custom-schemes]
                    [--log-content] [--json]

        Reads tags in the background, and offers to open their links.

          --reader READER         \(ReaderKind.usage(for: .trials)). Default:
                                  NFC_READER, or the first PC/SC reader.
          --tags FILES            Images near the virtual reader, separated by
                                  commas, or a folder of images. Default: NFC_TAGS.
          --allow-custom-schemes  Also offer links with an app's own scheme. Phones
                                  do this; Apple's documents don't mention it.
          --log-content           Write links and identifiers to the log.
          --json                  Write the log as one JSON object per line.

        To run it as a service: nfc background enable

        """

    /// Parses the command line. Prints an error and returns nil if it is invalid.
    init?(_ arguments: [String]) {
        json = arguments.contains { $0 == "--json" || $0.hasPrefix("--json=") }
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--reader", "--tags":
                guard let value = rest.popFirst() else {
                    Self.report("\(argument) needs a value.", json: json)
                    return nil
                }
                if argument == "--tags" { (reader.tags, reader.tagsSource) = (value, argument) }
                reader.reader = argument == "--tags" ? "virtual" : value
                reader.readerSource = argument
            case "--allow-custom-schemes": allowsCustomSchemes = true
            case "--log-content": logsContent = true
            case "--json": break
            case "-h", "--help":
                guard let number = OutputDescriptor.standardOutput.write(Self.usage) else { exit(0) }
                let reason = unsafe String(cString: strerror(number))
                Log.standardError("Error: Standard output can't be written: \(reason).\n")
                exit(1)
            default:
                Self.report("Unknown option '\(argument)'. See: nfcd --help", json: json)
                return nil
            }
        }
        if let problem = reader.backgroundProblem {
            Self.report("\(reader.readerSource): \(problem)", json: json)
            return nil
        }
    }

    private static func report(_ reason: String, json: Bool) {
        guard !json else {
            // A program that uses JSON reads only standard output.
            return Log.standardOutput(Log.failure("usage", reason))
        }
        Log.standardError("Error: \(VisibleText.escaped(reason))\n\n\(usage)")
    }
}
