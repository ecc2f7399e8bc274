// SPDX-License-Identifier: Apache-2.0
import TagLink
import VirtualTags

/// Files of FeliCa cards: the 28 blocks of Lite and Lite-S, or the systems of Standard.
extension FlipperTagDump {
    static func type3(
        _ fields: FlipperFields,
        _ remarks: inout [TagImageRemark]
    ) throws(TagImageError) -> VirtualType3Tag.Contents {
        let uid = try fields.bytes("UID", count: 8)
        let idm = try fields.bytes("Manufacture id", count: 8)
        if uid != idm {
            let (header, manufacture) = (uid.hexText(), idm.hexText())
            let text = "\"UID\" is \(header), and \"Manufacture id\" is \(manufacture), which the tag answers with."
            remarks.append(TagImageRemark(.contradiction, text))
        }
        if fields.line("Block 27") != nil { return .liteS(try liteS(fields, &remarks)) }
        if fields.line("System found") != nil || fields.line("Service found") != nil {
            return .standard(try standard(fields))
        }
        throw TagImageError(
            .unsupported,
            "The file has the IDm and the PMm of a FeliCa tag, and neither the 28 blocks of a Lite or Lite-S nor the "
                + "systems of a Standard card: there is nothing to read on a tag made of it.",
            line: fields.line("Device type")
        )
    }

    // MARK: Lite-S

    private static func liteS(
        _ fields: FlipperFields,
        _ remarks: inout [TagImageRemark]
    ) throws(TagImageError) -> FeliCaLiteSContents {
        var contents = FeliCaLiteSContents(
            idm: try fields.bytes("Manufacture id", count: 8),
            pmm: try fields.bytes("Manufacture parameter", count: 8)
        )
        var unread: [String] = []
        // The two status flags of the read precede the block.
        func block(_ index: Int) throws(TagImageError) -> [UInt8] {
            let bytes = try fields.bytes("Block \(index)", count: 18)
            if bytes[0] != 0 { unread.append("block \(index)") }
            return Array(bytes[2...])
        }
        contents.userMemory = []
        for index in 0..<14 { contents.userMemory += try block(index) }
        contents.register = try block(14)
        contents.identifierExtension = Array(try block(17).suffix(8))
        let deviceIdentifier = try block(18)
        if deviceIdentifier != contents.idm + contents.pmm { contents.deviceIdentifier = deviceIdentifier }
        contents.serviceCode = try block(19)
        contents.keyVersion = try block(21)
        contents.cardKey = try block(22)
        contents.memoryConfiguration = try block(23)
        contents.writeCounter = UInt32(try block(24).littleEndian(at: 0, count: 3))
        if !unread.isEmpty {
            let text =
                "The tag refused to be read in \(TagImage.list(unread)); there the file has what it has, mostly zeros."
            remarks.append(TagImageRemark(.missing, text))
        }
        return contents
    }

    static func fields(of contents: FeliCaLiteSContents) -> [FlipperLine]? {
        var blocks = [[UInt8]](repeating: Array(repeating: 0, count: 16), count: 28)
        for index in 0..<14 { blocks[index] = Array(contents.userMemory[(index * 16)..<(index * 16 + 16)]) }
        blocks[14] = contents.register
        blocks[17] = contents.idm + contents.identifierExtension
        blocks[18] = contents.deviceIdentifier ?? contents.idm + contents.pmm
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
        // The first two bytes are the status flags of the read: success.
        for (index, block) in blocks.enumerated() {
            lines.append(.field("Block \(index)", bytes: [0x00, 0x00] + block))
        }
        return lines
    }

    static func header(idm: [UInt8], pmm: [UInt8], name: String) -> [FlipperLine] {
        FlipperLine.header(deviceType: "FeliCa", uid: idm) + [
            .comment("FeliCa specific data"), .field("Data format version", "2"),
            .field("Manufacture id", bytes: idm), .field("Manufacture parameter", bytes: pmm),
            .field("IC Type", name), .empty,
        ]
    }
}
