// SPDX-License-Identifier: Apache-2.0
import PCSCDriver
import TagLink

extension NFCEnvironment {
    /// Makes an environment with a PC/SC reader, or the reason why there is none.
    ///
    /// - Parameters:
    ///   - configuration: the reader is `pcsc`, or `pcsc:` and a part of its name.
    ///   - sheet: where the scanning sheet is shown.
    ///   - cardPort: where apps that are cards meet readers.
    convenience init(
        pcsc configuration: ReaderConfiguration,
        sheet: any ScanSheet,
        cardPort: (any CardReaderPort)?
    ) {
        let name = configuration.reader?.split(separator: ":", maxSplits: 1).dropFirst().first.map(String.init)
        do throws(LinkError) {
            let reader = try PCSCReader.find(name.map(ReaderChoice.named) ?? .first)
            self.init(reader: .discovering(reader), sheet: sheet, cardPort: cardPort, gate: .ofUser)
        } catch {
            self.init(reader: .none(reason: TerminalText.escaped(error.reason)), sheet: sheet, cardPort: cardPort)
        }
    }

    /// The reader of a configuration that names none: the first contactless one, else the virtual field. Images of tags
    /// are for the virtual field.
    static func defaultReader(_ configuration: ReaderConfiguration) -> String {
        configuration.tags == nil && PCSCReader.isContactlessReaderThere ? "pcsc" : "virtual"
    }
}
