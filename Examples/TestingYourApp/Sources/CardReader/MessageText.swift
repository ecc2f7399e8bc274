// SPDX-License-Identifier: Apache-2.0
import CoreNFC

extension NFCNDEFPayload {
    /// The record in words, on one line.
    var summary: String {
        if let url = wellKnownTypeURIPayload() { return "Link: \(visible(url.absoluteString))" }
        if let text = wellKnownTypeTextPayload().0 { return "Text: \(visible(text))" }
        return "\(payload.count) bytes of type \(visible(String(decoding: type, as: UTF8.self)))"
    }

    /// Escapes invisible characters, so that a card can't control the terminal or hide part of its text.
    private func visible(_ text: String) -> String {
        text.applyingTransform(StringTransform("[[:C:][:Zl:][:Zp:][:DI:]] Any-Hex"), reverse: false) ?? ""
    }
}
