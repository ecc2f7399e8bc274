// SPDX-License-Identifier: Apache-2.0
import Glibc
import NFCRuntime

/// What the service is started with.
struct Options {
    private(set) var reader = ReaderConfiguration.ofProcess
    private(set) var allowsCustomSchemes = false
    private(set) var logsContent = false
    private(set) var json = false

    private static let usage = """
        Usage: nfcd [--reader READER] [--tags FILES] [--allow-custom-schemes]
                    [--log-content] [--json]

        Reads tags in the background, and offers to open their links.

          --reader READER         virtual, pcsc[:NAME] or pn532:PATH. NFC_READER
                                  unless given; else the first reader of PC/SC.
          --tags FILES            Images near the virtual reader, with commas
                                  between, or a folder of images. NFC_TAGS unless
                                  given.
          --allow-custom-schemes  Offer links of an app's own scheme too, as phones
                                  do and Apple's documents don't.
          --log-content           Write links and identifiers to the log.
          --json                  Write the log as one JSON object a line.

        Usually it is run by: nfc background enable

        """

    /// Reads the command line.
    ///
    /// - Returns: nil when it is wrong; that was told then.
    init?(_ arguments: [String]) {
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--reader", "--tags":
                guard let value = rest.popFirst() else {
                    Self.tell("\(argument) needs a value.")
                    return nil
                }
                if argument == "--reader" { reader.reader = value } else { reader.tags = value }
                if argument == "--tags" { reader.reader = "virtual" }
            case "--allow-custom-schemes": allowsCustomSchemes = true
            case "--log-content": logsContent = true
            case "--json": json = true
            case "-h", "--help":
                print(Self.usage, terminator: "")
                exit(0)
            default:
                Self.tell("There is no option \(argument.debugDescription).")
                return nil
            }
        }
    }

    private static func tell(_ reason: String) {
        Log.standardError("Error: \(reason)\n\n\(usage)")
    }
}
