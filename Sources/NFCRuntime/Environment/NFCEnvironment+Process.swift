// SPDX-License-Identifier: Apache-2.0
import TagLink
import VirtualTags

extension NFCEnvironment {
    /// The environment of the process, made from `NFC_READER`, `NFC_TAGS` and `NFC_SHEET` when it is first used.
    public static let process = NFCEnvironment(.ofProcess)

    /// Makes an environment with real time and the sheet that fits the process.
    ///
    /// - Parameter configuration: which reader. One that can't be had gives an environment without a reader, and the
    ///   reason.
    public convenience init(_ configuration: ReaderConfiguration) {
        let sheet = SheetChoice.automatic.makeSheet()
        switch (configuration.reader ?? Self.defaultReader(configuration)).split(separator: ":", maxSplits: 1).first {
        case nil, "virtual":
            do throws(ImageFiles.Failure) {
                let images = try ImageFiles(configuration)
                let field = VirtualField()
                for tag in images.tags { field.bring(tag) }
                self.init(reader: .field(field), sheet: sheet, onSessionEnd: images.saver)
            } catch {
                self.init(reader: .none(reason: error.reason), sheet: sheet)
            }
        case "none":
            self.init(reader: .none(reason: "NFC_READER is none, so there is no reader."), sheet: sheet)
        case "pcsc":
            self.init(pcsc: configuration, sheet: sheet)
        case "pn532":
            self.init(
                reader: .none(
                    reason: """
                        This version has no driver for PN532 readers yet. Unset NFC_READER to use the \
                        virtual field.
                        """
                ),
                sheet: sheet
            )
        case .some(let name):
            self.init(
                reader: .none(
                    reason: "There is no reader \"\(TerminalText.escaped(String(name)))\"; use virtual or none."
                ),
                sheet: sheet
            )
        }
    }
}
