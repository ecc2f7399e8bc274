// SPDX-License-Identifier: Apache-2.0
import NFCReaders
import NFCRuntime
import NFCTestKit
import TagLink
import TagProtocols
import Testing
import VirtualCards
import VirtualTags

/// Checks what is found on a tag of each product, and what is left on one that was written.
@Suite(.timeLimit(.minutes(1))) struct `An activated tag` {
    static let message: [UInt8] = [0xD1, 0x01, 0x04, 0x54, 0x02, 0x65, 0x6E, 0x48]

    /// Works with a virtual tag as a session does.
    static func work<Value: Sendable>(
        with tag: any VirtualTag,
        faults: FaultPlan? = nil,
        _ procedure: @escaping @Sendable (ActivatedTag) async throws(TagError) -> Value
    ) async throws -> Value {
        let field = VirtualField()
        field.bring(tag)
        let scene = Scene(.field(field))
        let session = try scene.session("a", plan: .everyTag)
        session.begin()
        #expect(await scene.events(2) == ["a active", "a found 1"])
        if let faults { field.arm(faults) }
        let value = try await session.work(with: try #require(scene.tags.first), procedure)
        session.invalidate()
        #expect(await scene.event() == "a ended: userCanceled")
        return value
    }

    @Test(arguments: TagProduct.all) func `says what it is and what it holds`(product: TagProduct) async throws {
        let tag = product.blank().makeTag()
        guard product.tagType != nil else {
            let findings = try await Self.work(with: tag) { tag throws(TagError) in try await tag.inspect().findings }
            #expect(findings.type == nil && findings.survey.message == nil && findings.cost == nil)
            #expect(findings.product?.isEmpty == false)
            #expect(findings.survey.error?.code == .unsupported)
            return
        }
        try await TagDesk.with(tag) { tag throws(TagError) in try await tag.writeNDEF(Self.message) }
        let identifier = tag.identifier
        let (findings, plain) = try await Self.work(with: tag) { tag throws(TagError) in
            (try await tag.inspect().findings, try await tag.read())
        }
        #expect(findings.identifier == identifier)
        #expect(findings.survey.message == Self.message && findings.survey.detection?.access == .readWrite)
        #expect(findings.survey.error == nil)
        #expect(findings.type.map { "\($0)" } == product.tagType.map { "type\($0)" })
        let isGeneric = product.name.hasPrefix("generic")
        #expect(isGeneric ? findings.product == nil : findings.product?.isEmpty == false)
        // To read it again takes no more than it took the first time, and to name it costs the reading nothing.
        let (cost, again) = (try #require(findings.cost), try #require(plain.cost))
        #expect(cost.exchanges >= 1 && cost.airtime > .zero && again.exchanges <= cost.exchanges)
        #expect(findings.activation.map { $0.exchanges >= 1 } == true)
        #expect(plain.product == nil && plain.identifier == identifier && plain.survey.message == Self.message)
    }

    @Test(arguments: Type1Product.allCases) func `of Type 1 shows its memory and its header`(product: Type1Product)
        async throws
    {
        var contents = Type1Contents(blank: product, uid: [1, 2, 3, 4, 5, 6, 7])
        contents.header[1] ^= 0x55
        let inspection = try await Self.work(with: VirtualType1Tag(contents)) { tag throws(TagError) in
            try await tag.inspect()
        }
        // One of another header is another product, of which nothing is made up.
        #expect(inspection.contents == nil || inspection.contents == .type1(contents))
        contents = Type1Contents(blank: product, uid: [1, 2, 3, 4, 5, 6, 7])
        contents.memory[20] = 0x42
        let known = try await Self.work(with: VirtualType1Tag(contents)) { tag throws(TagError) in
            try await tag.inspect()
        }
        #expect(known.contents == .type1(contents) && known.unknown.isEmpty)
        #expect(known.findings.identifier == [1, 2, 3, 4, 5, 6, 7])
    }

    @Test(arguments: Type2Product.all.map(\.name))
    func `of Type 2 shows its memory and the data that it reports`(name: String) async throws {
        let product = try #require(Type2Product.all.first { $0.name == name })
        var contents = Type2Contents(blank: product, uid: [4, 1, 2, 3, 4, 5, 6])
        contents.memory[17] = 0x42
        contents.signature = (0..<32).map { UInt8($0) }
        for index in contents.counters.indices { contents.counters[index] = UInt32(0x010203 + index) }
        let made = contents
        let inspection = try await Self.work(with: VirtualType2Tag(made)) { tag throws(TagError) in
            try await tag.inspect()
        }
        guard case .type2(let known) = inspection.contents else { throw Missing() }
        #expect(known.product == product && known.uid == made.uid)
        // A password is read as zeros.
        let hasPassword = name.contains("EV1") || name.hasPrefix("NTAG21")
        let shown = hasPassword ? made.memory.dropLast(8) + [UInt8](repeating: 0, count: 8) : made.memory
        #expect(known.memory == shown)
        #expect((known.atqa, known.sak) == (made.atqa, made.sak))
        #expect(known.version == product.version)
        #expect(inspection.target.identifier == made.uid && inspection.tellsActivation)
        var unknown: Set<TagInspection.Unknown> = [.failedAuthentications]
        if ["NTAG213", "NTAG215", "NTAG216"].contains(name) { unknown.insert(.counters) }
        #expect(inspection.unknown == unknown)
        let isEV1 = name.contains("EV1")
        if hasPassword { #expect(known.signature == made.signature) }
        if isEV1 {
            #expect(known.counters == made.counters && known.tearingFlags == made.tearingFlags)
        }
    }

    @Test func `of Type 2 keeps back what needs its password`() async throws {
        var contents = Type2Contents(blank: .ntag213, uid: [4, 1, 2, 3, 4, 5, 6])
        // AUTH0 is page 10. With PROT, reading needs the password too.
        contents.memory[0x29 * 4 + 3] = 10
        contents.memory[0x2A * 4] |= 0x80
        let made = contents
        let inspection = try await Self.work(with: VirtualType2Tag(made)) { tag throws(TagError) in
            try await tag.inspect()
        }
        #expect(inspection.unknown.contains(.memory))
        guard case .type2(let known) = inspection.contents else { throw Missing() }
        #expect(known.memory == Type2Contents(blank: .ntag213, uid: made.uid).memory)
    }

    struct Missing: Error {}

    @Test func `of Type 3 shows its configuration and its counter`() async throws {
        var contents = FeliCaLiteSContents(idm: [2, 0xFE, 1, 2, 3, 4, 5, 6])
        contents.writeCounter = 0x010203
        let made = contents
        let inspection = try await Self.work(with: VirtualType3Tag(made)) { tag throws(TagError) in
            try await tag.inspect()
        }
        guard case .type3(.liteS(let known)) = inspection.contents else { throw Missing() }
        #expect(known.idm == made.idm && known.pmm == made.pmm && known.writeCounter == 0x010203)
        #expect(known.memoryConfiguration == made.memoryConfiguration && inspection.unknown.isEmpty)
    }

    @Test func `of Type 4 shows its ATS, its version, and the file of its message`() async throws {
        for (name, hasVersion) in [("NTAG 424 DNA", true), ("DESFire EV1 4K", true), ("generic Type 4", false)] {
            let contents = try #require(TagProduct(named: name)).blank()
            let card = try #require(
                try await Self.work(with: contents.makeTag()) { tag throws(TagError) in try await tag.inspect().card }
            )
            #expect((card.answerToSelect?.isEmpty == false) && (card.version != nil) == hasVersion, "\(name)")
            if hasVersion {
                #expect(card.version?.count == 28 && card.version?[14..<21].elementsEqual(contents.uid) == true)
            }
            #expect(card.messageFile?.identifier == 0xE104 && (card.messageFile?.size ?? 0) >= 256)
        }
    }

    @Test func `of Type 5 shows its system, its locked blocks, and its counter`() async throws {
        for (product, hasCounter) in [(Type5Product.icodeSLIX2, true), (.icodeSLIX, false), (.st25tv02K, false)] {
            var contents = Type5Contents(blank: product)
            (contents.dsfid, contents.afi) = (0x12, 0x34)
            if hasCounter { contents.counter = 0x0102 }
            let made = contents
            let vicinity = try #require(
                try await Self.work(with: VirtualType5Tag(made)) { tag throws(TagError) in
                    try await tag.inspect().vicinity
                }
            )
            #expect(vicinity.system?.uid == made.uid && vicinity.system?.dsfid == 0x12 && vicinity.system?.afi == 0x34)
            #expect(vicinity.system?.blockSize == 4 && vicinity.blockSize == 4)
            #expect(vicinity.counter == (hasCounter ? 0x0102 : nil))
            #expect(vicinity.capabilityContainer?.first == 0xE1 && vicinity.lockedBlocks == [])
        }
        var locked = Type5Contents(blank: .icodeSLIX)
        locked.lockedBlocks = [3, 17]
        let made = locked
        let vicinity = try await Self.work(with: VirtualType5Tag(made)) { tag throws(TagError) in
            try await tag.inspect().vicinity
        }
        #expect(vicinity?.lockedBlocks == [3, 17])
    }

    @Test(
        arguments: [
            // A MIFARE Plus says so in its ATS, and nothing else of it does.
            (0x0044, [0xC1, 0x05, 0x2F, 0x2F, 0x01, 0xBC, 0xD6], true), (0x0044, [], false), (0x0044, [0x80], false),
            // A DESFire is known by its ATQA, unless its ATS is another maker's.
            (0x0344, [0x80], true), (0x0344, [], true), (0x0344, [0x80, 0x31], false), (0x0344, [0x6B], false),
        ] as [(UInt16, [UInt8], Bool)]
    )
    func `of ISO-DEP is asked for its product when its historical bytes are MIFARE's`(
        atqa: UInt16,
        historicalBytes: [UInt8],
        isAsked: Bool
    ) async throws {
        let version: [UInt8] = [4, 1, 1, 1, 0, 0x18, 5, 4, 1, 1, 1, 4, 0x18, 5] + [UInt8](repeating: 0, count: 14)
        let tag = VirtualType4Tag(
            card: VersionCard(VersionCardContents(.mifarePlus, version: version)),
            frontEnd: .nfcA(
                uid: [4, 1, 2, 3, 4, 5, 6],
                atqa: atqa,
                ats: [UInt8(2 + historicalBytes.count), 0x08] + historicalBytes
            )
        )
        let name = try await Self.work(with: tag) { tag throws(TagError) in
            // The card has no NDEF, and is open then.
            #expect(try await tag.read().survey.message == nil)
            return await tag.productName()
        }
        #expect(name == (isAsked ? "MIFARE DESFire EV1 4K" : nil))
    }

    // MARK: Writing

    private static func ntag() -> VirtualType2Tag {
        VirtualType2Tag(Type2Contents(blank: .ntag213, uid: [4, 1, 2, 3, 4, 5, 6]))
    }

    @Test(arguments: [(false, false), (true, false), (false, true), (true, true)])
    func `is described as it is left when it was written`(checks: Bool, locks: Bool) async throws {
        let tag = Self.ntag()
        let outcome = try await Self.work(with: tag) { tag throws(TagError) in
            await tag.writeAndDescribe(Self.message, checks: checks, locks: locks)
        }
        #expect(outcome.failure == nil && outcome.findings.product == "NTAG213")
        #expect(outcome.findings.survey.message == Self.message && outcome.findings.survey.error == nil)
        #expect(outcome.findings.survey.detection?.access == (locks ? .readOnly : .readWrite))
        #expect(outcome.findings.survey.detection?.capacity == 137)
        let left = try await TagDesk.read(.type2(tag.contents))
        #expect(left.message == Self.message && left.access == (locks ? .readOnly : .readWrite))
        // The airtime counts the write alone, without the work before and after it.
        let alone = try await Self.work(with: Self.ntag()) { tag throws(TagError) in
            await tag.write(Self.message, checks: false, locks: false).findings.cost
        }
        #expect(outcome.findings.cost?.exchanges == alone?.exchanges)
        #expect(outcome.findings.activation?.exchanges == 5)
    }

    @Test func `of Type 4 has the same cost of writing whether it is locked afterwards or not`() async throws {
        var costs: [Int?] = []
        for locks in [false, true] {
            let tag = VirtualType4Tag(card: ApplicationCard([NDEFApplication()]))
            let outcome = try await Self.work(with: tag) { tag throws(TagError) in
                await tag.write(Self.message, checks: false, locks: locks)
            }
            #expect(outcome.failure == nil)
            costs.append(outcome.findings.cost?.exchanges)
        }
        #expect(costs[0] != nil && costs[0] == costs[1])
    }

    @Test func `of Type 1 has its whole identifier when it was written`() async throws {
        let tag = VirtualType1Tag(Type1Contents(blank: .topaz96, uid: [1, 2, 3, 4, 5, 6, 7]))
        let outcome = try await Self.work(with: tag) { tag throws(TagError) in
            await tag.write(Self.message, checks: false, locks: false)
        }
        #expect(outcome.findings.identifier == [1, 2, 3, 4, 5, 6, 7])
    }

    @Test func `that is read-only, too small, or of no type is not written, and its content is reported`() async throws
    {
        var contents = Type2Contents(blank: .ntag213, uid: [4, 1, 2, 3, 4, 5, 6])
        contents.memory[15] = 0x0F
        let readOnly = VirtualType2Tag(contents)
        let refused = try await Self.work(with: readOnly) { tag throws(TagError) in
            await tag.writeAndDescribe(Self.message, checks: true, locks: false)
        }
        #expect(refused.failure?.error.code == .readOnly && refused.failure?.leavesDoubt == false)
        guard case .writing = refused.failure?.step else { throw Missing() }
        #expect(refused.findings.survey.detection?.access == .readOnly && refused.findings.survey.message == [])
        #expect(refused.findings.product == "NTAG213")
        #expect(readOnly.contents.memory == contents.memory)
        let unnamed = try await Self.work(with: readOnly) { tag throws(TagError) in
            await tag.writeAndDescribe(Self.message, checks: true, locks: false, asksProduct: false)
        }
        #expect(unnamed.findings.survey.detection?.access == .readOnly && unnamed.findings.product == nil)
        let large = try await Self.work(with: Self.ntag()) { tag throws(TagError) in
            await tag.writeAndDescribe([UInt8](repeating: 0, count: 138), checks: false, locks: true)
        }
        #expect(large.failure?.error.code == .messageTooLong && large.findings.survey.detection?.access == .readWrite)
        let classic = try #require(TagProduct(named: "Classic 1K")).blank().makeTag()
        let none = try await Self.work(with: classic) { tag throws(TagError) in
            await tag.writeAndDescribe(Self.message, checks: false, locks: false)
        }
        #expect(none.failure?.error.code == .unsupported && none.findings.survey.error?.code == .unsupported)
        #expect(none.findings.product == "MIFARE Classic 1K")
    }

    @Test func `that leaves while it is written leaves doubt, and nothing is asked of it any more`() async throws {
        for number in 0...2 {
            let outcome = try await Self.work(with: Self.ntag(), faults: .tear(afterWrite: number)) {
                tag throws(TagError) in
                await tag.writeAndDescribe(Self.message, checks: true, locks: false)
            }
            let failure = try #require(outcome.failure)
            #expect(failure.error.code == .tagLost && failure.leavesDoubt, "\(number)")
            guard case .writing = failure.step else { throw Missing() }
            #expect(outcome.findings.survey.message == nil && outcome.findings.product == nil)
            // What it has cost until then is known.
            #expect(outcome.findings.cost.map { $0.exchanges >= 1 } == true)
            #expect(outcome.findings.activation?.exchanges == 5)
        }
    }

    @Test func `that left while it was written is not asked for its content`() async throws {
        for number in 0...2 {
            var exchanges: [Int] = []
            for describes in [false, true] {
                let field = VirtualField()
                field.bring(Self.ntag())
                let scene = Scene(.field(field))
                let session = try scene.session("a", plan: .everyTag)
                session.begin()
                #expect(await scene.events(2) == ["a active", "a found 1"])
                field.arm(.tear(afterWrite: number))
                let outcome = try await session.work(with: try #require(scene.tags.first)) { tag throws(TagError) in
                    describes
                        ? await tag.writeAndDescribe(Self.message, checks: true, locks: false)
                        : await tag.write(Self.message, checks: true, locks: false)
                }
                #expect(outcome.failure?.leavesDoubt == true)
                exchanges.append(Int(field.statistics.exchanges))
                session.invalidate()
                #expect(await scene.event() == "a ended: userCanceled")
            }
            #expect(exchanges[0] == exchanges[1], "\(number)")
        }
    }

    @Test func `whose reader goes while it is written is not asked for anything any more`() async throws {
        let reader = PluggedReader()
        reader.field.bring(Self.ntag())
        let scene = Scene(.field(reader))
        let session = try scene.session("a", plan: .everyTag)
        session.begin()
        #expect(await scene.events(2) == ["a active", "a found 1"])
        let outcome = try await session.work(with: try #require(scene.tags.first)) { tag throws(TagError) in
            reader.pullsOutAtRead.withLock { $0 = "It was pulled out." }
            let before = reader.field.statistics.exchanges
            let outcome = await tag.writeAndDescribe(Self.message, checks: true, locks: false)
            #expect(reader.field.statistics.exchanges == before)
            return outcome
        }
        let failure = try #require(outcome.failure)
        #expect(failure.error.code == .readerUnavailable && failure.error.reason == "It was pulled out.")
        #expect(failure.leavesDoubt && outcome.findings.product == nil && outcome.findings.survey.message == nil)
        session.invalidate()
        #expect(await scene.event() == "a ended: userCanceled")
    }

    @Test func `that leaves at any moment failed at the step that was under way`() async throws {
        var steps: [String] = []
        var isDone = false
        for exchange in 0..<200 where !isDone {
            let outcome = try await Self.work(with: Self.ntag(), faults: .loss(atExchange: exchange)) {
                tag throws(TagError) in
                await tag.write(Self.message, checks: true, locks: true)
            }
            let step = outcome.failure.map { "\($0.step)" } ?? "done"
            if step != steps.last { steps.append(step) }
            isDone = outcome.failure == nil
        }
        #expect(steps == ["writing", "checking", "locking", "done"])
    }
}
