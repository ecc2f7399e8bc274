// SPDX-License-Identifier: Apache-2.0

extension String {
    /// The text on one line, with invisible characters escaped. File names and source lines can't control a terminal,
    /// start another line, or give commands to a workflow.
    public var visible: String {
        var result = ""
        for scalar in unicodeScalars {
            let isHidden =
                switch scalar.properties.generalCategory {
                case .control: scalar != "\t"
                case .format, .lineSeparator, .paragraphSeparator: true
                default: false
                }
            if isHidden {
                result += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// The text as Markdown that shows it literally, so that source text can't create images, links, mentions or HTML tags.
    var markdown: String {
        var result = ""
        for character in visible {
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            // A mention or a thread number counts only if it follows directly.
            case "@", "#": result += "\(character)\u{2060}"
            case "\\", "`", "*", "_", "[", "]", "(", ")", "!", "|", "~": result += "\\\(character)"
            default: result.append(character)
            }
        }
        // Addresses become links by themselves.
        return result.replacing("://", with: ":\u{2060}//")
    }

    /// The text as code in a cell of a table in Markdown.
    var markdownCode: String {
        "`" + visible.replacing("`", with: "'").replacing("|", with: "\\|") + "`"
    }
}
