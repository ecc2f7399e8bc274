// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Unit {
    /// The texts of the target's own sheets, with those in Objective-C, and why it scans.
    var sheetTexts: [SheetText] {
        let paths = Set(target.files)
        var result = texts.filter { paths.contains($0.place.path) }
        for file in objective {
            result += file.texts.compactMap { found in
                guard found.isKey, let known = strings[found.text], known.text != found.text else {
                    // A key that is a sentence is its own text.
                    let isText = !found.isKey || found.text.contains(" ")
                    return isText ? SheetText(text: found.text, role: found.role, place: found.place) : nil
                }
                return SheetText(text: known.text, role: found.role, place: known.place)
            }
        }
        return result
    }
}

extension SheetText {
    /// The text, as a finding shows it.
    var shown: String {
        let plain = text.replacing(String(SheetText.gap), with: "…").replacing("\n", with: " ")
        return "\"\(plain.count > 80 ? String(plain.prefix(80)) + "…" : plain)\""
    }
}

extension String {
    /// Without hyphens at both ends.
    var trimmingHyphens: String {
        String(drop { $0 == "-" }.reversed().drop { $0 == "-" }.reversed())
    }
}
