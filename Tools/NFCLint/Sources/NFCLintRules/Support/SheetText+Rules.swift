// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Unit {
    /// The texts that users read on the target's sheets, in Swift and Objective-C, and the usage descriptions.
    var sheetTexts: [SheetText] {
        let paths = Set(target.files)
        var result = texts.filter { paths.contains($0.place.path) }
        for file in objective {
            result += file.texts.compactMap { found in
                guard found.isKey, let known = strings[found.text], known.text != found.text else {
                    // A key with spaces is a sentence, and therefore its own text.
                    let isText = !found.isKey || found.text.contains(" ")
                    return isText ? SheetText(text: found.text, role: found.role, place: found.place) : nil
                }
                var text = SheetText(text: known.text, role: found.role, place: known.place)
                text.translations = known.translations
                return text
            }
        }
        return result
    }
}

extension SheetText {
    /// The text as findings show it.
    var shown: String {
        let plain = text.replacing(String(SheetText.gap), with: "…").replacing("\n", with: " ")
        return "\"\(plain.count > 80 ? String(plain.prefix(80)) + "…" : plain)\""
    }
}

extension String {
    /// The text without hyphens at both ends.
    var trimmingHyphens: String {
        String(drop { $0 == "-" }.reversed().drop { $0 == "-" }.reversed())
    }
}
