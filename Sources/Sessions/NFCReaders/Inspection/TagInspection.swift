// SPDX-License-Identifier: Apache-2.0
package import NFCSessions
package import TagProtocols
package import VirtualTags

/// All data that could be read about a tag on a reader. A value is nil when the tag or its reader does not reveal it.
package struct TagInspection: Sendable {
    /// A part of ``contents`` that the tag did not reveal.
    package enum Unknown: Sendable, Hashable {
        case answers
        /// A part of the memory, such as password-protected pages.
        case memory
        case signature
        /// Counters.
        case counters
        /// The count of wrong passwords, which no reader can read.
        case failedAuthentications
    }

    package struct Card: Sendable {
        /// The ATS, including TL.
        package var answerToSelect: [UInt8]?
        /// The answer to the version command of DESFire and similar cards: hardware, software and UID.
        package var version: [UInt8]?
        package var container: Type4CapabilityContainer?
    }

    package struct Vicinity: Sendable {
        package var system: ISO15693SystemInfo?
        package var lockedBlocks: [Int]?
        package var blockSize: Int?
        package var capabilityContainer: [UInt8]?
        package var signature: [UInt8]?
        package var counter: UInt16?
    }

    package var findings: TagReadResult
    package var target: TagTarget
    /// Whether values such as ATQA and SAK are from the tag itself.
    package var reportsActivationData: Bool
    /// The whole memory; nil if the product is unknown or can't be read. The parts in ``unknown`` have default values.
    package var contents: TagContents?
    package var unknown: Set<Unknown> = []
    package var card: Card?
    package var vicinity: Vicinity?
}

extension ActivatedTag {
    /// Reads the tag as a session does, and then asks it for all other data.
    ///
    /// - Throws: the same errors as ``read()``.
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
        case let tag as MIFAREClassic: try await inspection.ask(tag)
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
        guard let product = try await tag.product(), Type2Product.all.contains(product) else { return }
        var result = Type2Contents(blank: product, uid: tag.target.uid)
        result.atqa = tag.target.atqa
        result.sak = tag.target.sak ?? 0
        unknown = reportsActivationData ? [.failedAuthentications] : [.failedAuthentications, .answers]
        if let memory = try await tag.readPages(product.readablePageCount) {
            result.memory.replaceSubrange(0..<memory.count, with: memory)
        } else {
            unknown.insert(.memory)
        }
        // Products with a version command are identified by its answer.
        result.version = try await tag.readVersion()
        if let signature = try await tag.readSignature() {
            result.signature = signature
        } else if product.features.contains(.signature) {
            unknown.insert(.signature)
        }
        for number in result.countersOfProduct {
            guard let counter = try await tag.readCounter(UInt8(number)) else {
                unknown.insert(.counters)
                break
            }
            result.counters[number] = counter.count
            if let tearing = counter.tearing { result.tearingFlags[number] = tearing }
        }
        contents = .type2(result)
    }

    fileprivate mutating func ask(_ tag: Type3Tag) async throws(TagError) {
        guard findings.product == "FeliCa Lite-S", let configuration = try await tag.readMemoryConfiguration() else {
            return
        }
        var result = FeliCaLiteSContents(idm: tag.target.idm)
        result.pmm = tag.target.pmm
        result.memoryConfiguration = configuration
        if let count = try await tag.readWriteCounter() {
            result.writeCounter = count
        } else {
            unknown.insert(.counters)
        }
        contents = .type3(.liteS(result))
    }

    /// Reads all blocks that the known keys open, and takes these keys into the memory.
    fileprivate mutating func ask(_ tag: MIFAREClassic) async throws(TagError) {
        guard let product = ClassicProduct(memorySize: tag.blockCount * 16) else { return }
        var result = ClassicContents(product, memory: [], uid: tag.target.uid)
        (result.atqa, result.sak) = (tag.target.atqa, tag.target.sak ?? result.sak)
        result.unknownBytes = Set(0..<result.memory.count)
        func take(_ bytes: [UInt8], _ start: Int) {
            result.memory.replaceSubrange(start..<start + bytes.count, with: bytes)
            result.unknownBytes.subtract(start..<start + bytes.count)
        }
        for block in 0..<tag.blockCount {
            guard let bytes = try await tag.read(block) else { continue }
            guard let sector = ClassicProduct.sector(ofTrailer: block) else {
                take(bytes, block * 16)
                continue
            }
            take(Array(bytes[6..<10]), block * 16 + 6)
            if try await tag.access(ofSector: sector)?.isKeyBReadable == true {
                take(Array(bytes[10...]), block * 16 + 10)
            } else if let key = try await tag.key(.init(sector, isB: true)) {
                take(key, block * 16 + 10)
            }
            if let key = try await tag.key(.init(sector, isB: false)) { take(key, block * 16) }
        }
        contents = .classic(result)
    }

    fileprivate mutating func ask(_ tag: Type5Tag) async throws(TagError) {
        var result = Vicinity(system: try await tag.readSystemInfo())
        if let count = result.system?.blockCount { result.lockedBlocks = try await tag.readLockedBlocks(of: count) }
        result.blockSize = tag.blockSize > 0 ? tag.blockSize : result.system?.blockSize
        result.capabilityContainer = tag.capabilityContainerBytes
        result.signature = try await tag.readSignature()
        result.counter = try await tag.readCounter()
        vicinity = result
    }
}
