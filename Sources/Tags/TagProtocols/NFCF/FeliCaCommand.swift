// SPDX-License-Identifier: Apache-2.0
import TagLink

/// The bytes of FeliCa commands, from LEN on (FeliCa Card User's Manual, 4; JIS X 6319-4).
///
/// Use a ``FeliCaLiteSSession`` to authenticate a Lite-S whose card key is known.
public enum FeliCaCommand {
    /// A block in a service: the index of the service in the command's list, and the block's number.
    public struct BlockElement: Sendable, Hashable {
        /// The index of the service in the command's list, 0 to 15.
        public var service: UInt8
        /// The block's number.
        public var block: UInt16
        /// The access mode, 0 to 7: 0 for reading and writing, 1 for cashback to a purse.
        public var accessMode: UInt8

        /// Creates an element.
        public init(block: UInt16, service: UInt8 = 0, accessMode: UInt8 = 0) {
            self.block = block
            self.service = service
            self.accessMode = accessMode
        }

        /// Two bytes for blocks up to 255, otherwise three, with the block number little endian (NFC Forum T3T 1.0,
        /// 5.6).
        public var bytes: [UInt8] {
            let head = (accessMode & 7) << 4 | service & 0x0F
            return block < 256
                ? [0x80 | head, UInt8(block)]
                : [head, UInt8(block & 0xFF), UInt8(block >> 8)]
        }
    }

    /// Builds a command from LEN, the code, the IDm and parameters.
    ///
    /// - Parameters:
    ///   - code: the command code, which is even.
    ///   - idm: the IDm of the card.
    ///   - parameters: the bytes after the IDm, at most 245.
    public static func make(_ code: UInt8, idm: [UInt8], _ parameters: [UInt8] = []) -> [UInt8] {
        let count = 2 + idm.count + parameters.count
        precondition(count <= 255, "a FeliCa command has at most 255 bytes")
        return [UInt8(count), code] + idm + parameters
    }

    /// Request Service: the key versions of areas and services; FFFF for one that does not exist.
    public static func requestService(idm: [UInt8], nodes: [UInt16]) -> [UInt8] {
        make(0x02, idm: idm, [UInt8(nodes.count)] + nodes.flatMap(\.littleEndianBytes))
    }

    /// Request Response: whether the card is present, and its mode.
    public static func requestResponse(idm: [UInt8]) -> [UInt8] {
        make(0x04, idm: idm)
    }

    /// Read Without Encryption, which NFC Forum T3T 1.0, 5.4 calls CHECK.
    public static func read(idm: [UInt8], services: [UInt16], blocks: [BlockElement]) -> [UInt8] {
        make(0x06, idm: idm, lists(services, blocks))
    }

    /// Write Without Encryption, which NFC Forum T3T 1.0, 5.5 calls UPDATE.
    ///
    /// `data` has 16 bytes for each block.
    public static func write(
        idm: [UInt8],
        services: [UInt16],
        blocks: [BlockElement],
        data: [UInt8]
    ) -> [UInt8] {
        make(0x08, idm: idm, lists(services, blocks) + data)
    }

    /// Request System Code: all systems on the card.
    public static func requestSystemCode(idm: [UInt8]) -> [UInt8] {
        make(0x0C, idm: idm)
    }

    /// Request Service v2: key versions for DES and AES.
    public static func requestServiceV2(idm: [UInt8], nodes: [UInt16]) -> [UInt8] {
        make(0x32, idm: idm, [UInt8(nodes.count)] + nodes.flatMap(\.littleEndianBytes))
    }

    /// Request Specification Version.
    public static func requestSpecificationVersion(idm: [UInt8]) -> [UInt8] {
        make(0x3C, idm: idm, [0x00, 0x00])
    }

    /// Reset Mode.
    public static func resetMode(idm: [UInt8]) -> [UInt8] {
        make(0x3E, idm: idm, [0x00, 0x00])
    }

    private static func lists(_ services: [UInt16], _ blocks: [BlockElement]) -> [UInt8] {
        var lists = [UInt8(services.count)]
        for service in services { lists += service.littleEndianBytes }
        lists.append(UInt8(blocks.count))
        for block in blocks { lists += block.bytes }
        return lists
    }
}
