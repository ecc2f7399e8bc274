// SPDX-License-Identifier: Apache-2.0

/// The systems of a FeliCa Standard card: `systems` by their codes, each with `maximum_read`, `maximum_write`, and `files`
/// by the codes of their services with commas between, each with `memory_hex` and `key_version`.
extension JSONImage {
    static func systems(_ fields: JSONFields) throws(TagImageError) -> [FeliCaSystem] {
        let objects = fields.object("systems")
        guard (1...16).contains(objects.keys.count) else {
            throw TagImageError(.inconsistent, "A card has 1 to 16 systems.", line: fields.line("systems"))
        }
        var systems: [FeliCaSystem] = []
        for key in objects.keys {
            let system = objects.object(key)
            let files = system.object("files")
            systems.append(
                FeliCaSystem(
                    code: try code(key, objects.line(key)),
                    files: try files.keys.map { key throws(TagImageError) in
                        FeliCaFile(
                            serviceCodes: try key.split(separator: ",").map { part throws(TagImageError) in
                                try code(String(part), files.line(key))
                            },
                            memory: try files.object(key).octets("memory_hex", count: nil),
                            keyVersion: UInt16(try files.object(key).number("key_version", in: 0...0xFFFF) ?? 0)
                        )
                    },
                    maximumRead: try system.number("maximum_read", in: 1...255) ?? 15,
                    maximumWrite: try system.number("maximum_write", in: 1...255) ?? 13
                )
            )
        }
        return systems
    }

    private static func code(_ text: String, _ line: Int?) throws(TagImageError) -> UInt16 {
        guard let octets = [UInt8](hexadecimal: text.utf8), octets.count == 2 else {
            throw TagImageError(.malformed, "\"\(text)\" is not a code of four digits.", line: line)
        }
        return UInt16(octets[0]) << 8 | UInt16(octets[1])
    }

    static func object(of systems: [FeliCaSystem]) -> String {
        func text(_ code: UInt16) -> String { [UInt8(code >> 8), UInt8(code & 0xFF)].hexadecimalText }
        return object(
            systems.map { system in
                let files = system.files.map { file in
                    let members = [("memory_hex", quoted(file.memory))]
                    let version = file.keyVersion == 0 ? [] : [("key_version", String(file.keyVersion))]
                    return (file.serviceCodes.map { text($0) }.joined(separator: ","), object(members + version))
                }
                let members = [
                    ("maximum_read", String(system.maximumRead)), ("maximum_write", String(system.maximumWrite)),
                    ("files", object(files)),
                ]
                return (text(system.code), object(members))
            }
        )
    }
}
