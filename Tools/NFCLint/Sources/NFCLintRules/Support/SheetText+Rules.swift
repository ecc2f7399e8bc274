// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Unit {
    /// The texts of the target's own sheets, with those in Objective-C, and why it scans.
    var sheetTexts: [SheetText] {
        let paths = Set(target.files)
        var result = texts.filter { paths.contains($0.place.path) }
        for file in objective {
            result += file.texts.map {
                SheetText(text: $0.text, role: $0.isError ? .error : .progress, place: $0.place)
            }
        }
        return result
    }
}

extension SheetText {
    /// The text as it is shown in a finding.
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
