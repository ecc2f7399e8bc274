// SPDX-License-Identifier: Apache-2.0
import TagLink

/// Files of FeliCa cards: the 28 blocks of Lite and Lite-S, or the services of Standard and what can be read without a
/// key.
extension FlipperTagDump {
    static func type3(_ fields: FlipperFields) throws(TagImageError) -> Type3Tag.Contents {
        if fields.line("Block 27") != nil { return .liteS(try liteS(fields)) }
        guard fields.line("Service found") != nil else {
            throw TagImageError(
                .unsupported,
                "A FeliCa tag without the 28 blocks of Lite-S and without services is not supported.",
                line: fields.line("Device type")
            )
        }
        return .standard(try standard(fields))
    }

    // MARK: Lite-S

    private static func liteS(_ fields: FlipperFields) throws(TagImageError) -> FeliCaLiteSContents {
        var contents = FeliCaLiteSContents(
            idm: try fields.octets("Manufacture id", count: 8),
            pmm: try fields.octets("Manufacture parameter", count: 8)
        )
        func block(_ index: Int) throws(TagImageError) -> [UInt8] {
            Array(try fields.octets("Block \(index)", count: 18).dropFirst(2))
        }
        contents.userMemory = []
        for index in 0..<14 { contents.userMemory += try block(index) }
        contents.register = try block(14)
        contents.identifierExtension = Array(try block(17).suffix(8))
        contents.serviceCode = try block(19)
        contents.keyVersion = try block(21)
        contents.cardKey = try block(22)
        contents.memoryConfiguration = try block(23)
        contents.writeCounter = UInt32(try block(24).littleEndian(at: 0, count: 3))
        return contents
    }

    static func fields(of contents: FeliCaLiteSContents) -> [FlipperLine]? {
        var blocks = [[UInt8]](repeating: Array(repeating: 0, count: 16), count: 28)
        for index in 0..<14 { blocks[index] = Array(contents.userMemory[(index * 16)..<(index * 16 + 16)]) }
        blocks[14] = contents.register
        blocks[17] = contents.idm + contents.identifierExtension
        blocks[18] = contents.idm + contents.pmm
        blocks[19] = contents.serviceCode
        blocks[20] = [0x88, 0xB4] + Array(repeating: 0, count: 14)
        blocks[21] = contents.keyVersion
        blocks[22] = contents.cardKey
        blocks[23] = contents.memoryConfiguration
        blocks[24] = [UInt8](littleEndian: Int(contents.writeCounter), count: 16)
        var lines = header(
            idm: contents.idm,
            pmm: contents.pmm,
            name: contents.pmm[1] == 0xF0 ? "FeliCa Lite" : "FeliCa Lite-S"
        )
        lines += [
            .comment("Felica Lite specific data"), .field("Blocks total", "28"), .field("Blocks read", "28"),
        ]
        // The first two octets are the status flags of reading: done.
        for (index, block) in blocks.enumerated() {
            lines.append(.field("Block \(index)", octets: [0x00, 0x00] + block))
        }
        return lines
    }

    private static func header(idm: [UInt8], pmm: [UInt8], name: String) -> [FlipperLine] {
        FlipperLine.header(deviceType: "FeliCa", uid: idm) + [
            .comment("FeliCa specific data"), .field("Data format version", "2"),
            .field("Manufacture id", octets: idm), .field("Manufacture parameter", octets: pmm),
            .field("IC Type", name), .empty,
        ]
    }

    // MARK: Standard

    /// Services of one number share their blocks, which the public ones among them give away. Nothing says how many
    /// blocks the others have.
    private static func standard(_ fields: FlipperFields) throws(TagImageError) -> FeliCaStandardContents {
        let count = fields.line("System found") == nil ? 1 : try fields.number("System found", in: 0...16)
        guard count == 1 else {
            throw TagImageError(
                .unsupported,
                "A FeliCa card with \(count) systems is not supported: the file does not say which services are whose.",
                line: fields.line("System found")
            )
        }
        // A file without the line is of the system that answers first, whichever it is.
        let code = fields.line("System 00") == nil ? 0xFFFF : try fields.code("System 00", in: fields.text("System 00"))
        var files: [FeliCaFile] = []
        for index in 0..<(try fields.number("Service found", in: 0...1024)) {
            let key = "Service \(hexadecimal(index, digits: 3))"
            let service = try fields.code(key, in: fields.part("Code", of: key))
            if let file = files.firstIndex(where: { $0.serviceCodes[0] >> 6 == service >> 6 }) {
                files[file].serviceCodes.append(service)
            } else {
                files.append(FeliCaFile(serviceCodes: [service], memory: []))
            }
        }
        for index in 0..<(try fields.number("Public blocks read", in: 0...0xFFFF)) {
            let key = "Block \(hexadecimal(index, digits: 4))"
            let service = try fields.code(key, in: fields.part("Service code", of: key))
            let block = try fields.octet(key, in: fields.part("Block index", of: key))
            guard let file = files.firstIndex(where: { $0.serviceCodes.contains(service) }),
                let data = [UInt8](hexadecimal: try fields.part("Data:", of: key).utf8, separated: true),
                data.count == 16,
                block * 16 <= files[file].memory.count
            else {
                throw TagImageError(
                    .malformed,
                    "\(key) is not the next block of a service with its 16 octets.",
                    line: fields.line(key)
                )
            }
            // The same block may be read through several services.
            let range = (block * 16)..<min(block * 16 + 16, files[file].memory.count)
            files[file].memory.replaceSubrange(range, with: data)
        }
        // The attributes of an NDEF system say how many blocks go at a time.
        let isNDEF = code == 0x12FC && files.count == 1 && files[0].serviceCodes == [0x0009, 0x000B]
        let system = isNDEF ? FeliCaSystem(ndef: files[0].memory) : FeliCaSystem(code: code, files: files)
        return FeliCaStandardContents(
            idm: try fields.octets("Manufacture id", count: 8),
            pmm: try fields.octets("Manufacture parameter", count: 8),
            systems: [system]
        )
    }

    static func fields(of contents: FeliCaStandardContents) -> [FlipperLine]? {
        guard contents.systems.count == 1, let system = contents.systems.first else { return nil }
        var lines = header(idm: contents.idm, pmm: contents.pmm, name: "FeliCa Standard")
        lines += [
            .comment("Felica Standard specific data"), .field("System found", "1"),
            .field("System 00", hexadecimal(Int(system.code), digits: 4)), .empty,
        ]
        let codes = system.files.flatMap(\.serviceCodes)
        // The root area has all services in it.
        let services = "#000-#\(hexadecimal(max(0, codes.count - 1), digits: 3))"
        lines += [.field("Area found", "1"), .field("Area 000", "| Code 0000 | Services \(services) |"), .empty]
        lines.append(.field("Service found", String(codes.count)))
        for (index, code) in codes.enumerated() {
            let text =
                "| Code \(hexadecimal(Int(code), digits: 4)) | Attrib. \(hexadecimal(Int(code & 0x3F), digits: 2)) |"
            lines.append(.field("Service \(hexadecimal(index, digits: 3))", text))
        }
        lines.append(.empty)
        var blocks: [String] = []
        for file in system.files {
            // Bit 0 of the attribute: no key needed.
            guard let code = file.serviceCodes.first(where: { $0 & 0x01 == 1 }) else { continue }
            for index in 0..<file.blockCount {
                let data = Array(file.memory[(index * 16)..<(index * 16 + 16)]).spacedHexadecimalText
                let place = "Block index \(hexadecimal(index, digits: 2))"
                blocks.append("| Service code \(hexadecimal(Int(code), digits: 4)) | \(place) | Data: \(data) |")
            }
        }
        lines.append(.field("Public blocks read", String(blocks.count)))
        for (index, text) in blocks.enumerated() {
            lines.append(.field("Block \(hexadecimal(index, digits: 4))", text))
        }
        return lines
    }

    private static func hexadecimal(_ number: Int, digits: Int) -> String {
        let text = String(number, radix: 16, uppercase: true)
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }
}

extension FlipperFields {
    /// The value of a named part of a line such as `| Code 008B | Attrib. 0B |`.
    fileprivate func part(_ name: String, of key: String) throws(TagImageError) -> String {
        for part in try text(key).split(separator: "|") {
            let words = part.drop { $0 == " " }
            guard words.hasPrefix(name) else { continue }
            return String(words.dropFirst(name.count).drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
        }
        throw TagImageError(.malformed, "\(key) has no part \"\(name)\".", line: line(key))
    }

    /// A system or service code: four hexadecimal digits.
    fileprivate func code(_ key: String, in text: String) throws(TagImageError) -> UInt16 {
        guard text.utf8.count == 4, let octets = [UInt8](hexadecimal: text.utf8) else {
            throw TagImageError(.malformed, "\(key) has no code of four hexadecimal digits.", line: line(key))
        }
        return UInt16(high: octets[0], low: octets[1])
    }

    /// A number of two hexadecimal digits.
    fileprivate func octet(_ key: String, in text: String) throws(TagImageError) -> Int {
        guard text.utf8.count == 2, let octets = [UInt8](hexadecimal: text.utf8) else {
            throw TagImageError(.malformed, "\(key) has no index of two hexadecimal digits.", line: line(key))
        }
        return Int(octets[0])
    }
}
