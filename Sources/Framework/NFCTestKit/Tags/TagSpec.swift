// SPDX-License-Identifier: Apache-2.0
import NDEF
import NFCSessions
import TagImages
import TagLink
import TagProtocols
public import VirtualTags

/// The description of a tag in a test. Each field creates a new tag from it.
///
/// ```swift
/// "NTAG215"
/// .product("NTAG215", holding: .uri("https://example.com"))
/// .product("NTAG215", holding: .text("Day pass")).readOnly
/// .product("ICODE SLIX").writing([0x12, 0x34, 0x56, 0x78], atBlock: 5)
/// .feliCa(system: 0x0003, services: [0x090F: journeys])
/// .dump(bytes)
/// .script([([0x00, 0xB0, 0x00, 0x00, 0x02], [0xCA, 0xFE, 0x90, 0x00])])
/// ```
public struct TagSpec: Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    private indirect enum Source: Sendable {
        case product(String, TagMessage?, uid: [UInt8]?)
        case dump([UInt8])
        case script([(command: [UInt8], answer: [UInt8])])
        case contents(TagContents)
        case object(any VirtualTag)
        /// A card of the test's own, which is a value.
        case card(any Card, Type4FrontEnd)
        case feliCa(system: UInt16, services: [UInt16: [UInt8]], idm: [UInt8]?)
        /// A tag and a change of it, with a description for the user.
        case changed(TagSpec, String, @Sendable (any VirtualTag) async throws(FieldError) -> any VirtualTag)
    }

    private let source: Source

    /// A new tag of a product, as delivered.
    ///
    /// - Parameter name: the product's name, see `TagProduct`.
    public init(stringLiteral name: String) { source = .product(name, nil, uid: nil) }

    private init(_ source: Source) { self.source = source }

    /// A product.
    ///
    /// - Parameters:
    ///   - name: the product's name, such as `NTAG215`; case, spaces and hyphens are ignored.
    ///   - message: the tag's message; nil for a product as delivered.
    ///   - uid: the tag's UID; nil for a UID that the field's seed determines.
    public static func product(_ name: String, holding message: TagMessage? = nil, uid: [UInt8]? = nil) -> TagSpec {
        TagSpec(.product(name, message, uid: uid))
    }

    /// A dump of a real tag, in any format that `nfc tag convert` reads.
    public static func dump(_ bytes: [UInt8]) -> TagSpec { TagSpec(.dump(bytes)) }

    /// A card that answers APDUs according to a script, and any other command with 6D00. Its UID is random: 4 bytes
    /// that begin with 08. So the card is reported as `.iso7816` if the app lists no applications.
    public static func script(_ pairs: [(command: [UInt8], answer: [UInt8])]) -> TagSpec { TagSpec(.script(pairs)) }

    /// A tag with these contents.
    public static func contents(_ contents: TagContents) -> TagSpec { TagSpec(.contents(contents)) }

    /// Your own virtual tag. Each run of an exploration gets a new tag with the same contents, and a `VirtualType4Tag`
    /// a copy of its card. An exploration also checks what such a card returns as `persistentMemory`. If a tag can't be
    /// copied, all runs use this object, with the contents that the earlier runs have left.
    public static func tag(_ tag: any VirtualTag) -> TagSpec { TagSpec(.object(tag)) }

    /// A FeliCa Standard card with one system, whose services are read and written without encryption.
    ///
    /// - Parameters:
    ///   - system: the system code, such as 0003.
    ///   - services: the blocks of each service by its code, 16 bytes each; the last block is padded.
    ///   - idm: the IDm, 8 bytes; nil for one that the field's seed determines.
    public static func feliCa(system: UInt16, services: [UInt16: [UInt8]], idm: [UInt8]? = nil) -> TagSpec {
        TagSpec(.feliCa(system: system, services: services, idm: idm))
    }

    /// The same tag, locked as the app's `writeLock` locks it: it can be read, and not be written any more.
    ///
    /// A tag that no app can lock, such as an NTAG 424 DNA as delivered, fails with `badTag`.
    public var readOnly: TagSpec {
        changed("locked") { tag throws(FieldError) in
            let copy = TagContents(of: tag)?.makeTag() ?? tag
            do throws(TagError) {
                try await withActivatedTag(in: copy) { tag throws(TagError) in try await tag.lock() }
            } catch {
                throw FieldError(.badTag, "This tag can't be locked: \(error.reason)")
            }
            return copy
        }
    }

    /// The same tag with other bytes in its memory, which need not be NDEF.
    ///
    /// - Parameters:
    ///   - bytes: the bytes.
    ///   - block: where they begin: a page of a Type 2 tag, or a block of an ISO 15693, FeliCa Lite-S or MIFARE Classic
    ///     tag.
    public func writing(_ bytes: [UInt8], atBlock block: Int) -> TagSpec {
        changed("with \(bytes.count) bytes at block \(block)") { tag throws(FieldError) in
            guard var contents = TagContents(of: tag), contents.write(bytes, atBlock: block) else {
                throw FieldError(.badTag, "This tag has no memory for \(bytes.count) bytes at block \(block).")
            }
            return contents.makeTag()
        }
    }

    /// The same Type 2 tag, protected by a password as with `PWD_AUTH` of NTAG21x and MIFARE Ultralight EV1.
    ///
    /// - Parameters:
    ///   - password: the password, 4 bytes.
    ///   - acknowledgement: the tag's answer to the right password, 2 bytes (PACK).
    ///   - page: the first protected page (AUTH0).
    ///   - protectsReading: whether reading needs the password too.
    public func protected(
        by password: [UInt8],
        acknowledgement: [UInt8] = [0, 0],
        fromPage page: UInt8 = 4,
        protectsReading: Bool = false
    ) -> TagSpec {
        changed("protected by a password") { tag throws(FieldError) in
            guard case .type2(var contents) = TagContents(of: tag), contents.access != nil,
                let start = contents.product.firstConfigurationPage.map({ 4 * $0 })
            else {
                throw FieldError(.badTag, "This tag has no password of 4 bytes. An NTAG215 has one.")
            }
            guard password.count == 4, acknowledgement.count == 2 else {
                throw FieldError(.badTag, "A password must have 4 bytes, and its acknowledgement 2.")
            }
            contents = contents.completed
            contents.memory[start + 3] = page
            contents.memory[start + 4] |= protectsReading ? 0x80 : 0
            contents.memory.replaceSubrange(start + 8..<start + 14, with: password + acknowledgement)
            return VirtualType2Tag(contents)
        }
    }

    private func changed(
        _ what: String,
        _ change: @escaping @Sendable (any VirtualTag) async throws(FieldError) -> any VirtualTag
    ) -> TagSpec { TagSpec(.changed(self, what, change)) }

    /// A few words about the tag, for asking the user to put it on a reader.
    public var description: String {
        switch source {
        case .product(let name, let message, _): message.map { "\(name) with \($0)" } ?? name
        case .dump(let bytes): (try? TagImage(parsing: bytes)).map { "\($0.product) \($0.uid.hexText())" } ?? "a dump"
        case .script: "a card"
        case .contents(let contents): "\(contents.product) \(contents.uid.hexText())"
        case .object(let tag): "a tag \(tag.identifier.hexText())"
        case .card(_, let frontEnd): "a card \(frontEnd.identifier.hexText())"
        case .feliCa(let system, _, _): "a FeliCa card with system \(system.hexText(digits: 4))"
        case .changed(let spec, let what, _): "\(spec), \(what)"
        }
    }

    /// Creates the tag.
    func make(seed: UInt64) async throws(FieldError) -> any VirtualTag {
        switch source {
        case .product(let name, let message, let uid): return try await Self.make(name, message, uid, seed)
        case .dump(let bytes):
            do throws(TagImageError) {
                return try TagImage(parsing: bytes).makeTag()
            } catch {
                throw FieldError(.badTag, "The dump can't be read. \(error.reason) For details: nfc tag info FILE")
            }
        case .script(let pairs):
            var generator = SplitMix64(seed: seed)
            return VirtualType4Tag(card: ScriptedCard(pairs), frontEnd: .randomUID(using: &generator))
        case .contents(let contents): return contents.makeTag()
        case .object(let tag): return tag
        case .card(let card, let frontEnd): return VirtualType4Tag(card: card, frontEnd: frontEnd)
        case .feliCa(let system, let services, let idm):
            var generator = SplitMix64(seed: seed)
            let idm = idm ?? [0x01, 0x2E] + (0..<6).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
            guard idm.count == 8 else { throw FieldError(.badTag, "An IDm has 8 bytes, not \(idm.count).") }
            let files = services.sorted { $0.key < $1.key }.map { FeliCaFile(serviceCodes: [$0.key], memory: $0.value) }
            let contents = FeliCaStandardContents(idm: idm, systems: [FeliCaSystem(code: system, files: files)])
            return VirtualType3Tag(contents)
        case .changed(let spec, _, let change): return try await change(try await spec.make(seed: seed))
        }
    }

    /// Returns the same tag as contents, which are faster to create; `self` when the contents can't be copied.
    func prepared(seed: UInt64) async throws(FieldError) -> TagSpec {
        switch source {
        case .product, .dump, .feliCa, .changed:
            return TagContents(of: try await make(seed: seed)).map { TagSpec(.contents($0)) } ?? self
        case .object(let tag):
            if let contents = TagContents(of: tag) { return TagSpec(.contents(contents)) }
            return (tag as? VirtualType4Tag).map { TagSpec(.card($0.card, $0.frontEnd)) } ?? self
        case .script, .contents, .card: return self
        }
    }

    private static func make(
        _ name: String,
        _ message: TagMessage?,
        _ uid: [UInt8]?,
        _ seed: UInt64
    ) async throws(FieldError) -> any VirtualTag {
        guard let product = TagProduct(named: name) else {
            throw FieldError(
                .unknownProduct,
                "The product \"\(name)\" does not exist. Write \"\(nearest(to: name))\", or see nfc tag create --list."
            )
        }
        var generator = SplitMix64(seed: seed)
        let uid = uid ?? product.identifier(using: &generator)
        guard product.identifierLengths.contains(uid.count) else {
            let lengths = product.identifierLengths.map(String.init).joined(separator: " or ")
            throw FieldError(.badTag, "A UID of \(product) has \(lengths) bytes, not \(uid.count).")
        }
        let tag = product.blank(uid: uid).makeTag()
        guard let message else { return tag }
        do throws(TagError) {
            try await withActivatedTag(in: tag) { tag throws(TagError) in try await tag.writeNDEF(message.bytes) }
        } catch {
            throw FieldError(.badTag, "A \(product) can't hold \(message): \(error.reason)")
        }
        return tag
    }

    /// Returns the most similar product name.
    private static func nearest(to name: String) -> String {
        func distance(_ other: String) -> Int { other.lowercased().difference(from: name.lowercased()).count }
        let names = TagProduct.all.map(\.name)
        // A family's name stands for its first product.
        let family = names.first { $0.lowercased().hasPrefix(name.lowercased()) }
        return family ?? names.min { distance($0) < distance($1) } ?? ""
    }
}

extension TagSpec {
    /// Returns a second tag with the same contents, whose first record differs, or a card with the same script. If the
    /// technology allows a choice, the reader finds this tag first, so that code that uses the first tag uses the wrong
    /// tag.
    ///
    /// - Parameter isChanged: whether the bytes that the test has written besides a message differ too. A tag that comes in
    ///   place of the first has others, so that what belongs to the first tag shows on it. A tag beside the first has
    ///   the same, so that an app does not refuse it.
    func companion(of tag: any VirtualTag, seed: UInt64, isChanged: Bool) async throws(FieldError) -> TagSpec {
        if case .card(let card, .nfcA(let uid, let atqa, let sak, let ats)) = source {
            let other = Self.identifier(before: uid, of: .nfcA)
            return TagSpec(.card(card, .nfcA(uid: other, atqa: atqa, sak: sak, ats: ats)))
        }
        guard let contents = TagContents(of: tag) else {
            // A scripted card has a random UID. A few tries give a UID that is found first.
            for number in 1...64 {
                let other = try await make(seed: seed &+ UInt64(number))
                if other !== tag, Self.comesFirst(other.identifier, before: tag.identifier) { return .tag(other) }
            }
            return "NTAG213"
        }
        let uid = Self.identifier(before: contents.uid, of: tag.technology)
        let blank = TagProduct(named: contents.product).flatMap { product in
            product.identifierLengths.contains(uid.count) ? product.blank(uid: uid) : nil
        }
        let message = (try? await contents.readNDEF().message) ?? []
        var copy = contents.withIdentifier(uid)
        if isChanged { copy = copy.changed(from: message.isEmpty ? blank : await blank?.holding(message)) }
        // The records differ, so that code that uses the wrong tag ends with a different result.
        guard !message.isEmpty else { return .contents(copy) }
        // A tag that can't be written is replaced by a new one. The tags of a series have the same password.
        for other in [copy, blank] {
            if let written = await other?.holding(Self.another(message)) {
                return .contents(written.protected(like: contents))
            }
        }
        return .contents(copy)
    }

    /// Returns a message whose first record has a 2 after each number, or at its end if it has none, such as the link
    /// of the next card in a series.
    private static func another(_ message: [UInt8]) -> [UInt8] {
        guard var records = try? NDEFMessage(decoding: message).records, let first = records.first else {
            return message
        }
        if var text = try? TextRecord(first) {
            text.text = another(text.text)
            records[0] = (try? text.makeRecord(identifier: Array(first.identifier))) ?? first
        } else if let link = try? URIRecord(first) {
            records[0] = (try? URIRecord(another(link.uri)).makeRecord(identifier: Array(first.identifier))) ?? first
        }
        return (try? NDEFMessage(records).encoded()) ?? message
    }

    private static func another(_ text: String) -> String {
        let numbered = text.replacing(/[0-9]+/) { "\($0.output)2" }
        return numbered == text ? text + "2" : numbered
    }

    /// Returns whether the anticollision of NFC-A finds `uid` before `other`: it has a 1 in the first bit that differs
    /// (ISO/IEC 14443-3, 6.5.3).
    private static func comesFirst(_ uid: [UInt8], before other: [UInt8]) -> Bool {
        guard let index = zip(uid, other).enumerated().first(where: { $1.0 != $1.1 })?.offset else { return false }
        return uid[index] >> (uid[index] ^ other[index]).trailingZeroBitCount & 1 == 1
    }

    /// Returns a slightly changed identifier that the reader finds before `uid`.
    private static func identifier(before uid: [UInt8], of technology: Technology) -> [UInt8] {
        var uid = uid
        switch technology {
        case .nfcA:
            // The first byte is the manufacturer.
            guard let index = uid.indices.dropFirst().first(where: { uid[$0] != 0xFF }) else { return uid }
            uid[index] |= uid[index] &+ 1
        case .nfcB, .nfcF, .nfcV:
            // The slots of an inventory depend on the lowest bits, which are in the last byte.
            guard let last = uid.indices.last else { return uid }
            uid[last] = uid[last] & 0x0F == 0 ? uid[last] ^ 0x10 : uid[last] & (uid[last] &- 1)
        }
        return uid
    }
}

extension TagContents {
    /// Returns these contents with another identifier of the same length.
    fileprivate func withIdentifier(_ uid: [UInt8]) -> TagContents {
        switch self {
        case .type1(var contents):
            contents.memory.replaceSubrange(0..<uid.count, with: uid)
            return .type1(contents)
        case .type2(var contents):
            contents = contents.completed
            contents.uid = uid
            contents.memory.replaceSubrange(0..<9, with: Type2Contents(blank: contents.product, uid: uid).memory[..<9])
            return .type2(contents)
        case .type3(.liteS(var contents)):
            contents.idm = uid
            contents.deviceIdentifier = nil
            return .type3(.liteS(contents))
        case .type3(.standard(var contents)):
            contents.idm = uid
            return .type3(.standard(contents))
        case .type4(var contents):
            contents.frontEnd =
                switch contents.frontEnd {
                case .nfcA(_, let atqa, let sak, let ats): .nfcA(uid: uid, atqa: atqa, sak: sak, ats: ats)
                case .nfcB(_, let data, let protocolInfo):
                    .nfcB(pupi: uid, applicationData: data, protocolInfo: protocolInfo)
                }
            switch contents.kind {
            case .desfire(var card):
                card.uid = uid
                contents.kind = .desfire(card)
            case .ntag424(var card):
                card.uid = uid
                contents.kind = .ntag424(card)
            case .mifarePlus(var card):
                card.memory.replaceSubrange(0..<min(uid.count, card.memory.count), with: uid)
                contents.kind = .mifarePlus(card)
            case .ndef, .emrtd, .emv, .version, .applications, .unspecified: break
            }
            return .type4(contents)
        case .type5(var contents):
            contents.uid = uid
            return .type5(contents)
        case .classic(var contents):
            contents.uid = uid
            // The XOR of the bytes follows a UID of four bytes.
            let head = uid.count == 4 ? uid + [uid.reduce(0, ^)] : uid
            contents.memory.replaceSubrange(0..<head.count, with: head)
            return .classic(contents)
        case .nfcA(var contents):
            contents.uid = uid
            return .nfcA(contents)
        }
    }

    /// Returns these contents with a message; nil if it can't be written.
    func holding(_ message: [UInt8]) async -> TagContents? {
        let tag = makeTag()
        let isWritten: Void? = try? await withActivatedTag(in: tag) { tag throws(TagError) in
            try await tag.writeNDEF(message)
        }
        return isWritten.flatMap { TagContents(of: tag) }
    }

    /// Returns these contents with another value in each byte of the user memory that a test has written.
    ///
    /// - Parameter delivered: the product as delivered, with the same message; nil if there is no such product.
    fileprivate func changed(from delivered: TagContents?) -> TagContents {
        func change(_ memory: inout [UInt8], _ other: [UInt8]?, _ area: Range<Int>? = nil) {
            for index in area ?? memory.indices where memory[index] != 0 && memory[index] != other?[index] {
                memory[index] ^= 1
            }
        }
        switch (self, delivered) {
        case (.type2(var contents), .type2(let other)):
            contents = contents.completed
            let pages = contents.product.userPages
            change(&contents.memory, other.completed.memory, 4 * pages.lowerBound..<4 * (pages.upperBound + 1))
            return .type2(contents)
        case (.type3(.liteS(var contents)), .type3(.liteS(let other))):
            change(&contents.userMemory, other.userMemory)
            return .type3(.liteS(contents))
        case (.type3(.standard(var contents)), _):
            for (index, system) in contents.systems.enumerated() {
                for file in system.files.indices { change(&contents.systems[index].files[file].memory, nil) }
            }
            return .type3(.standard(contents))
        case (.type5(var contents), .type5(let other)):
            change(&contents.memory, other.memory)
            return .type5(contents)
        default: return self
        }
    }

    /// Returns these contents with the protection and the password of another Type 2 tag of the same product.
    fileprivate func protected(like other: TagContents) -> TagContents {
        guard case .type2(var contents) = self, let other = other.type2?.completed,
            let page = contents.product.firstConfigurationPage, contents.memory.count == other.memory.count
        else { return self }
        contents.memory.replaceSubrange((4 * page)..., with: other.memory[(4 * page)...])
        return .type2(contents)
    }

    /// Writes bytes into the memory. Returns false if the memory is too small, or has no blocks.
    fileprivate mutating func write(_ bytes: [UInt8], atBlock block: Int) -> Bool {
        func written(_ memory: inout [UInt8], _ blockSize: Int) -> Bool {
            let (start, hasOverflow) = block.multipliedReportingOverflow(by: blockSize)
            guard block >= 0, !hasOverflow, start <= memory.count, bytes.count <= memory.count - start else {
                return false
            }
            memory.replaceSubrange(start..<start + bytes.count, with: bytes)
            return true
        }
        switch self {
        case .type2(var contents):
            contents = contents.completed
            guard written(&contents.memory, 4) else { return false }
            self = .type2(contents)
        case .type3(.liteS(var contents)):
            guard written(&contents.userMemory, 16) else { return false }
            self = .type3(.liteS(contents))
        case .type5(var contents):
            guard written(&contents.memory, contents.product.blockSize) else { return false }
            self = .type5(contents)
        case .classic(var contents):
            guard written(&contents.memory, 16) else { return false }
            self = .classic(contents)
        case .type1, .type3(.standard), .type4, .nfcA: return false
        }
        return true
    }
}
