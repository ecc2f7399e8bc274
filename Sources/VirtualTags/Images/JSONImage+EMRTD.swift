// SPDX-License-Identifier: Apache-2.0

extension JSONImage {
    /// Reads a travel document: `mrz`, the printed zone, with `\n` between lines or without; `files` by their identifiers,
    /// and without them the files that ``EMRTDContents`` makes from the zone; `card_access`, where it has EF.CardAccess.
    static func emrtd(_ fields: JSONFields) throws(TagImageError) -> EMRTDContents {
        let text = try fields.text("mrz")
        let zone: MachineReadableZone
        var contents: EMRTDContents
        do {
            zone = try MachineReadableZone(text)
        } catch {
            throw TagImageError(.malformed, error.reason, line: fields.line("mrz"))
        }
        if fields.hasValue("files") {
            contents = EMRTDContents(zone, files: try files(fields))
        } else {
            do {
                contents = try EMRTDContents(zone)
            } catch {
                throw TagImageError(.unsupported, error.reason, line: fields.line("mrz"))
            }
        }
        if fields.hasValue("card_access") { contents.cardAccess = try fields.octets("card_access", count: nil) }
        return contents
    }

    /// What describes a document, without its files.
    static func members(of contents: EMRTDContents) -> [(String, String)] {
        // A zone has no characters that JSON escapes.
        [("mrz", "\"\(contents.zone.lines.joined())\"")]
            + (contents.cardAccess.map { [("card_access", quoted($0))] } ?? [])
    }
}
