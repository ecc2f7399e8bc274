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
        let cardPort = Self.cardPort(configuration.cardReader)
        let reader = configuration.reader ?? Self.defaultReader(configuration)
        switch reader.split(separator: ":", maxSplits: 1).first {
        case nil, "virtual":
            do throws(ImageFiles.Failure) {
                if let folder = configuration.tags, ImageFolder.isFolder(folder) {
                    let field = VirtualField()
                    _ = try ImageFolder(folder, field: field)
                    self.init(reader: .field(field), sheet: sheet, cardPort: cardPort, gate: .ofUser)
                    return
                }
                let images = try ImageFiles(configuration)
                let field = VirtualField()
                for tag in images.tags { field.bring(tag) }
                self.init(
                    reader: .field(field),
                    sheet: sheet,
                    cardPort: cardPort,
                    gate: .ofUser,
                    onSessionEnd: images.saver
                )
            } catch {
                self.init(reader: .none(reason: error.reason), sheet: sheet, cardPort: cardPort)
            }
        case "none":
            self.init(
                reader: .none(reason: "NFC_READER is none, so there is no reader."),
                sheet: sheet,
                cardPort: cardPort
            )
        case "pcsc":
            self.init(pcsc: configuration, sheet: sheet, cardPort: cardPort)
        case "pn532":
            self.init(pn532: configuration, sheet: sheet, cardPort: cardPort)
        case .some(let name):
            self.init(
                reader: .none(
                    reason: """
                        There is no reader \"\(TerminalText.escaped(String(name)))\"; use virtual, pcsc, pn532:PATH or \
                        none.
                        """
                ),
                sheet: sheet,
                cardPort: cardPort
            )
        }
    }

    /// Where apps of the process are cards.
    private static func cardPort(_ name: String?) -> (any CardReaderPort)? {
        guard let parts = name?.split(separator: ":", maxSplits: 1), parts.first == "pcsc" else { return nil }
        return PCSCCardPort(path: parts.count == 2 ? String(parts[1]) : nil)
    }
}
