// SPDX-License-Identifier: Apache-2.0
import PN532Driver
import TagLink

extension NFCEnvironment {
    /// A PN532, which is a card for other readers too.
    ///
    /// Its line is opened when a session begins: an adapter that is plugged in later is found then.
    ///
    /// - Parameter connection: the path of a serial line, with its speed where it is not the usual one.
    static func pn532(_ connection: String) -> (reader: Reader, cardPort: (any CardReaderPort)?) {
        do throws(LinkError) {
            let reader = try PN532Reader(connection)
            let port = PN532CardPort(try PN532Card(connection)) { error in
                OutputDescriptor.standardError.write("\(TerminalText.escaped(error.reason))\n")
            }
            return (.discovering(reader), port)
        } catch {
            return (.none(reason: TerminalText.escaped(error.reason)), nil)
        }
    }
}
