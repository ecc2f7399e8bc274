// SPDX-License-Identifier: Apache-2.0
package import NFCSessions
package import TagProtocols
package import VirtualTags

/// Everything that could be found out about a tag on a reader. A value is nil when the tag or its reader does not
/// reveal it.
package struct TagInspection: Sendable {
    /// A part of ``contents`` that the tag did not reveal.
    package enum Unknown: Sendable, Hashable {
        /// ATQA and SAK.
        case answers
        /// A part of the memory, such as one that needs a password.
        case memory
        /// The signature.
        case signature
        /// Counters.
        case counters
        /// How often the password was wrong. No reader can read this.
        case failedAuthentications
    }

    /// The data of a Type 4 tag.
    package struct Card: Sendable {
        /// The ATS, from TL on.
        package var answerToSelect: [UInt8]?
        /// The answer to the version command of DESFire and similar cards: hardware, software and UID.
        package var version: [UInt8]?
        package var container: Type4CapabilityContainer?
    }

    /// The data of a Type 5 tag.
    package struct Vicinity: Sendable {
        /// The answer to GET SYSTEM INFORMATION.
        package var system: ISO15693SystemInfo?
        package var lockedBlocks: [Int]?
        /// The number of bytes in a block, as found by reading.
        package var blockSize: Int?
        package var capabilityContainer: [UInt8]?
        /// The answer to READ SIGNATURE.
        package var signature: [UInt8]?
        /// The counter of an ICODE SLIX2.
        package var counter: UInt16?
    }

    /// The NDEF message and the kind of the tag.
    package var findings: TagReadResult
    /// The data of the activation.
    package var target: TagTarget
    /// Whether values such as ATQA and SAK come from the tag itself.
    package var reportsActivationData: Bool
    /// The whole memory, if the product is known and readable. The parts in ``unknown`` have default values.
    package var contents: TagContents?
    /// The parts of ``contents`` that the tag did not reveal.
    package var unknown: Set<Unknown> = []
    /// The data of a Type 4 tag.
    package var card: Card?
    /// The data of a Type 5 tag.
    package var vicinity: Vicinity?
}

extension ActivatedTag {
    /// Reads the tag like a session, and then asks it for everything else.
    ///
    /// - Returns: what was found out.
    /// - Throws: ``TagError``, like ``read()``.
    package func inspect() async throws(TagError) -> TagInspection {
        var findings = try await read()
        findings.product = await productName()
        var inspection = TagInspection(findings: findings, target: target, reportsActivationData: reportsActivationData)
        switch forumTag {
        case let tag as Type1Tag: try await inspection.ask(tag)
        case let tag as Type2Tag: try await inspection.ask(tag)
        case let tag as Type3Tag: try await inspection.ask(tag)
        case let tag as Type4Tag:
            inspection.card = TagInspection.Card(
                answerToSelect: answerToSelect?.bytes,
                version: findings.product == nil ? nil : try await tag.readVersion()?.bytes,
                container: tag.capabilityContainer
            )
        case let tag as Type5Tag: try await inspection.ask(tag)
        default: break
        }
        return inspection
    }
}

extension TagInspection {
    fileprivate mutating func ask(_ tag: Type1Tag) async throws(TagError) {
        guard let header = tag.target, let product = findings.product.flatMap(Type1Product.init(named:)),
            let memory = try await tag.readBytes(product.memorySize)
        else { return }
        let bytes = [header.headerROM0, header.headerROM1]
        contents = .type1(Type1Contents(product, memory: memory, header: bytes))
        if let uid = tag.uid { findings.identifier = uid }
    }

    fileprivate mutating func ask(_ tag: Type2Tag) async throws(TagError) {
        guard let product = Type2Product.all.first(where: { $0.name == findings.product }) else { return }
        var known = Type2Contents(blank: product, uid: tag.target.uid)
        known.atqa = tag.target.atqa
        known.sak = tag.target.sak ?? 0
        unknown = reportsActivationData ? [.failedAuthentications] : [.failedAuthentications, .answers]
        if let memory = try await tag.readPages(product.readablePageCount) {
            known.memory.replaceSubrange(0..<memory.count, with: memory)
        } else {
            unknown.insert(.memory)
        }
        // A product that has a version is known by it.
        known.version = try await tag.readVersion()
        if let signature = try await tag.readSignature() {
            known.signature = signature
        } else if product.features.contains(.signature) {
            unknown.insert(.signature)
        }
        for number in known.countersOfProduct {
            guard let counter = try await tag.readCounter(UInt8(number)) else {
                unknown.insert(.counters)
                break
            }
            known.counters[number] = counter.count
            if let tearing = counter.tearing { known.tearingFlags[number] = tearing }
        }
        contents = .type2(known)
    }

    fileprivate mutating func ask(_ tag: Type3Tag) async throws(TagError) {
        guard findings.product == "FeliCa Lite-S", let configuration = try await tag.readMemoryConfiguration() else {
            return
        }
        var known = FeliCaLiteSContents(idm: tag.target.idm)
        known.pmm = tag.target.pmm
        known.memoryConfiguration = configuration
        if let count = try await tag.readWriteCounter() {
            known.writeCounter = count
        } else {
            unknown.insert(.counters)
        }
        contents = .type3(.liteS(known))
    }

    fileprivate mutating func ask(_ tag: Type5Tag) async throws(TagError) {
        var known = Vicinity(system: try await tag.readSystemInfo())
        if let count = known.system?.blockCount { known.lockedBlocks = try await tag.readLockedBlocks(of: count) }
        known.blockSize = tag.blockSize > 0 ? tag.blockSize : known.system?.blockSize
        known.capabilityContainer = tag.capabilityContainerBytes
        known.signature = try await tag.readSignature()
        known.counter = try await tag.readCounter()
        vicinity = known
    }
}
