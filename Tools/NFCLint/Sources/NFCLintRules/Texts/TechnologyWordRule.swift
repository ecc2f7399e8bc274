// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    static let technologyWord = Rule(
        id: "TXT001",
        severity: .warning,
        title: "The text contains a technical term",
        why: """
            People know the object in their hand, not NFC or tags (Human Interface Guidelines). This is a warning in an \
            instruction, which everybody reads, and a note in other texts.
            """,
        fix: "Name the object: \"Hold your iPhone near the museum card.\"",
        bad: [
            .instruction("Hold your iPhone near an NFC tag."),
            .failure("Tag is read only."),
            .instruction("NFCタグをかざしてください。"),
            .swift(
                """
                class Reader: NSObject {
                    typealias Texts = (success: String, failure: String)
                    static let english = Texts(success: "The door is open.", failure: "This tag opens no door.")
                    private let texts: Texts
                    private var session: NFCNDEFReaderSession!
                    init(texts: Texts = Reader.english) { self.texts = texts }
                    func fail() { show(texts.failure) }
                    func show(_ text: String?) {
                        if let message = text { session.alertMessage = message }
                    }
                }
                """
            ),
            .swift(
                """
                class Reader: NSObject {
                    private var session: NFCTagReaderSession?
                    func show(_ step: Int) {
                        let texts = ["Hold your iPhone near the badge.", "The tag is being read."]
                        let text = texts[min(step, 1)]
                        session?.alertMessage = text
                    }
                }
                """
            ),
            .swift(
                """
                enum DoorError: LocalizedError {
                    case unknown
                    var errorDescription: String? {
                        switch self {
                        case .unknown: return "This tag opens no door."
                        }
                    }
                }
                class Reader: NSObject {
                    private var session: NFCTagReaderSession?
                    func fail() { session?.invalidate(errorMessage: DoorError.unknown.localizedDescription) }
                }
                """
            ),
            Example.swift(
                """
                class Reader: NSObject {
                    private var session: NFCTagReaderSession?
                    func start() { session?.alertMessage = L10n.Doors.startMessage(UIDevice.current.name) }
                }
                """
            )
                + Example.file(
                    "en.lproj/Localizable.strings",
                    "\"doors.start_message\" = \"Hold your %@ near the tag.\";"
                ),
            badge("de.lproj", "Halten Sie das iPhone an den NFC-Chip."),
            .usageDescription("NFC is used to open doors."),
            .objective(
                """
                - (void)fail { [self closeWithError:@"This tag opens no door."]; }
                - (void)closeWithError:(NSString *)text {
                    [self.session invalidateSessionWithErrorMessage:text];
                }
                """
            ),
        ],
        good: [
            badge("de.lproj", "Halten Sie das iPhone jeden Tag an den Ausweis."),
            // An app's own property with the name of the sheet's text.
            .swift(
                """
                class Login: UIViewController {
                    var alertMessage = ""
                    var reader: NFCTagReaderSession?
                    let model = LoginModel()
                    func fail() {
                        alertMessage = "Tap the tag of the post."
                        self.alertMessage = "Tap the tag of the post."
                        model.alertMessage = "Tap the tag of the post."
                    }
                }
                class LoginModel { var alertMessage: String? }
                """
            ),
            .objective(
                "- (void)fail { self.alertMessage = @\"Tap the tag.\"; [self setAlertMessage:@\"Tap the tag.\"]; }"
            ),
            .instruction("Hold your iPhone near the badge to open the door."),
            .failure("The badge was not read. Hold it still, and try again."),
        ],
        check: { unit, findings in
            for text in unit.sheetTexts + usageTexts(unit) {
                let severity = text.role == .instruction ? Severity.warning : .info
                if report(text, severity, unit, &findings) { continue }
                // Translators start from a text without the term.
                for translation in text.translations {
                    let other = SheetText(text: translation.text, role: text.role, place: translation.place)
                    _ = report(other, severity, unit, &findings, language: translation.language)
                }
            }
        }
    )

    /// Reports the technical words in a text. Returns whether it has any.
    private static func report(
        _ text: SheetText,
        _ severity: Severity,
        _ unit: Unit,
        _ findings: inout Findings,
        language: String? = nil
    ) -> Bool {
        let found = technicalTerms(text, unit).filter { word in
            let code = language?.prefix { $0.isLetter }.lowercased() ?? ""
            return common[word.lowercased()]?.contains(code) != true
        }
        let names = found.map { "\"\($0)\"" }.joined(separator: ", ")
        if !found.isEmpty {
            let remedy: String? =
                switch text.role {
                case .instruction: nil
                case .progress: "Name the object or the result: \"The door is open.\""
                case .error: "Say what happened and what to do: \"The badge was not read. Hold it still.\""
                case .usage: "Say what the app reads and why: \"Badges are scanned to open doors.\""
                }
            let message = "People do not know the term \(names): \(text.shown)"
            findings.add(text.place, message, remedy: remedy, severity: severity)
        }
        return !found.isEmpty
    }

    /// The technical terms in a text, except in names of products.
    static func technicalTerms(_ text: SheetText, _ unit: Unit) -> [String] {
        words(unit.options.products.reduce(text.text) { $0.replacing($1, with: "") })
    }

    /// A reader whose instruction is translated.
    private static func badge(_ folder: String, _ text: String) -> Example {
        let reader = """
            class Reader: NSObject {
                var session: NFCTagReaderSession?
                func start() { session?.alertMessage = NSLocalizedString("hold", comment: "") }
            }
            """
        return Example.swift(reader)
            + .file("en.lproj/Localizable.strings", "hold = \"Hold your iPhone near the badge.\";")
            + .file("\(folder)/Localizable.strings", "hold = \"\(text)\";")
    }

    /// The usage descriptions.
    private static func usageTexts(_ unit: Unit) -> [SheetText] {
        var result: [SheetText] = []
        unit.forEachInfo(Keys.usage) { usage, _ in
            guard let text = usage.value.string else { return }
            result.append(SheetText(text: text, role: .usage, place: usage.key))
        }
        return result
    }

    private static let technology: Set<String> = [
        "nfc", "corenfc", "tag", "tags", "ndef", "rfid", "apdu", "iso", "uid", "transponder",
        "iso7816", "iso15693", "iso14443", "iso-dep", "tag's", "etiqueta", "tagged",
    ]
    /// The languages in which a technical word is also a common one: "day", "take" and "big".
    private static let common: [String: Set<String>] = [
        "tag": ["de", "da", "sv", "nb", "nn", "no"], "iso": ["fi"],
    ]
    private static let joined = ["タグ", "태그", "标签", "標籤"]

    private static func words(_ text: String) -> [String] {
        var result: [String] = []
        var current = ""
        // Technical names consist of ASCII letters. Other characters, such as kana after "NFC", end a word.
        for character in text + " " {
            if character.isASCII, character.isLetter || character.isNumber || character == "-" {
                current.append(character)
            } else {
                let name = current.lowercased().trimmingHyphens
                let isKnown =
                    technology.contains(name) || name.split(separator: "-").contains { technology.contains(String($0)) }
                if isKnown, !result.contains(current) { result.append(current) }
                current = ""
            }
        }
        if text.lowercased().contains("near-field") || text.lowercased().contains("near field") {
            result.append("near-field")
        }
        return result + joined.filter(text.contains)
    }
}
