// SPDX-License-Identifier: Apache-2.0
import PN532Driver
import TagLink

extension NFCEnvironment {
    /// Makes an environment with a PN532, which is a card for other readers too.
    ///
    /// Its line is opened when a session begins: an adapter that is plugged in later is found then.
    ///
    /// - Parameters:
    ///   - configuration: the reader is `pn532:` and the path of a serial line.
    ///   - sheet: where the scanning sheet is shown.
    ///   - cardPort: where apps that are cards meet readers; nil for the PN532 itself.
    convenience init(
        pn532 configuration: ReaderConfiguration,
        sheet: any ScanSheet,
        cardPort: (any CardReaderPort)?
    ) {
        let parts = configuration.reader?.split(separator: ":", maxSplits: 1) ?? []
        let connection = parts.dropFirst().first.map(String.init) ?? ""
        do throws(LinkError) {
            let reader = try PN532Reader(connection)
            let port = PN532CardPort(try PN532Card(connection)) { error in
                OutputDescriptor.standardError.write("\(TerminalText.escaped(error.reason))\n")
            }
            self.init(reader: .discovering(reader), sheet: sheet, cardPort: cardPort ?? port, gate: .ofUser)
        } catch {
            self.init(reader: .none(reason: TerminalText.escaped(error.reason)), sheet: sheet, cardPort: cardPort)
        }
    }
}
