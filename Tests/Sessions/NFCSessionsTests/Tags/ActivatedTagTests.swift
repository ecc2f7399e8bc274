// SPDX-License-Identifier: Apache-2.0
import NFCReaders
import NFCSessions
import NFCTestKit
import SessionTesting
import TagLink
import TagProtocols
import Testing
import VirtualTags

/// What is found on a tag of each product, and what is left on one that was written.
@Suite(.timeLimit(.minutes(1))) struct ActivatedTagTests {
    private static let message: [UInt8] = [0xD1, 0x01, 0x04, 0x54, 0x02, 0x65, 0x6E, 0x48]

    /// Works with a virtual tag as a session does.
    private static func work<Value: Sendable>(
        with tag: any VirtualTag,
        faults: FaultPlan? = nil,
        _ procedure: @escaping @Sendable (ActivatedTag) async throws(TagError) -> Value
    ) async throws -> Value {
        let near = field(tag)
        let (session, tags) = try await Scene(.field(near)).finding(plan: .everyTag)
        if let faults { near.arm(faults) }
        return try await session.work(with: tags[0], procedure)
    }

    private static func inspect(_ tag: any VirtualTag) async throws -> TagInspection {
        try await work(with: tag) { tag throws(TagError) in try await tag.inspect() }
    }

    // MARK: Reading

    @Test(arguments: TagProduct.all) func `inspection of each product: has its type, product name, message and cost`(
        product: TagProduct
    )
        async throws
    {
        let tag = product.blank().makeTag()
        guard product.tagType != nil else {
            let findings = try await Self.inspect(tag).findings
            #expect(findings.ndefStatus.message == nil && findings.ndefStatus.detection == nil)
            return
        }
        try await withActivatedTag(in: tag) { tag throws(TagError) in try await tag.writeNDEF(Self.message) }
        let (findings, plain) = try await Self.work(with: tag) { tag throws(TagError) in
            (try await tag.inspect().findings, try await tag.read())
        }
        #expect(findings.identifier == tag.identifier && plain.identifier == tag.identifier)
        for status in [findings.ndefStatus, plain.ndefStatus] {
            #expect(status.message == Self.message && status.error == nil)
        }
        #expect(findings.ndefStatus.detection?.access == .readWrite)
        #expect(findings.type.map { "\($0)" } == product.tagType.map { "type\($0)" })
        let isGeneric = product.name.hasPrefix("generic")
        #expect(isGeneric ? findings.product == nil : findings.product?.isEmpty == false)
        // A second read takes no more than the first, and naming the product costs the reading nothing.
        let (cost, again) = (try #require(findings.cost), try #require(plain.cost))
        #expect(cost.exchanges >= 1 && cost.airtime > .zero && again.exchanges <= cost.exchanges)
        #expect((findings.activation?.exchanges ?? 0) >= 1 && plain.product == nil)
    }

    @Test func `inspection on a reader that activates tags itself: what the reader can't report is listed as unknown`()
        async throws
    {
        let (session, tags) = try await Scene(.discovering(ConcludingReader(field(ntag())))).finding()
        let inspection = try await session.work(with: tags[0]) { tag throws(TagError) in try await tag.inspect() }
        #expect(
            !inspection.reportsActivationData && inspection.unknown == [.failedAuthentications, .answers, .counters]
        )
        #expect(inspection.findings.activation == nil && inspection.findings.cost != nil)
    }

    @Test(
        arguments: [
            // A MIFARE Plus is known by its ATS alone.
            (0x0044, [0xC1, 0x05, 0x2F, 0x2F, 0x01, 0xBC, 0xD6], true), (0x0044, [], false), (0x0044, [0x80], false),
            // A DESFire is known by its ATQA, unless its ATS is another maker's.
            (0x0344, [0x80], true), (0x0344, [], true), (0x0344, [0x80, 0x31], false), (0x0344, [0x6B], false),
        ] as [(UInt16, [UInt8], Bool)]
    )
    func `card without NDEF: sent GET_VERSION only if ATQA and historical bytes are those of DESFire or Plus`(
        atqa: UInt16,
        historicalBytes: [UInt8],
        isAsked: Bool
    ) async throws {
        let version: [UInt8] = [4, 1, 1, 1, 0, 0x18, 5, 4, 1, 1, 1, 4, 0x18, 5] + [UInt8](repeating: 0, count: 14)
        let ats = [UInt8(2 + historicalBytes.count), 0x08] + historicalBytes
        let tag = VirtualType4Tag(
            card: VersionCard(VersionCardContents(.mifarePlus, version: version)),
            frontEnd: .nfcA(uid: [4, 1, 2, 3, 4, 5, 6], atqa: atqa, ats: ats)
        )
        let name = try await Self.work(with: tag) { tag throws(TagError) in
            #expect(try await tag.read().ndefStatus.message == nil)
            return await tag.productName()
        }
        #expect(name == (isAsked ? "MIFARE DESFire EV1 4K" : nil))
    }

    // MARK: Writing

    @Test(arguments: [false, true], [false, true])
    func `write: the outcome has the tag's new message and access, and the cost of the write alone`(
        checks: Bool,
        locks: Bool
    )
        async throws
    {
        let tag = ntag()
        let outcome = try await Self.work(with: tag) { tag throws(TagError) in
            await tag.write(Self.message, checks: checks, locks: locks, describing: .product)
        }
        let access: NDEFDetection.Access = locks ? .readOnly : .readWrite
        #expect(outcome.failure == nil && outcome.findings.product == "NTAG213")
        #expect(outcome.findings.ndefStatus.message == Self.message && outcome.findings.ndefStatus.error == nil)
        #expect(outcome.findings.ndefStatus.detection?.access == access)
        #expect(outcome.findings.ndefStatus.detection?.capacity == 137)
        let left = try await TagContents.type2(tag.contents).readNDEF()
        #expect(left.message == Self.message && left.access == access)
        let alone = try await Self.work(with: ntag()) { tag throws(TagError) in
            await tag.write(Self.message, checks: false, locks: false).findings.cost
        }
        #expect(outcome.findings.cost?.exchanges == alone?.exchanges && outcome.findings.activation?.exchanges == 5)
    }

    @Test
    func `write to a read-only, small or non-NDEF tag: fails with its code, and the outcome has the tag's content`()
        async throws
    {
        var contents = Type2Contents(blank: .ntag213, uid: [4, 1, 2, 3, 4, 5, 6])
        contents.memory[15] = 0x0F
        let readOnly = VirtualType2Tag(contents)
        let classic = try #require(TagProduct(named: "Classic 1K")).blank().makeTag()
        let long = [UInt8](repeating: 0, count: 138)
        let rows: [(any VirtualTag, [UInt8], TagError.Code, String, NDEFDetection.Access?)] = [
            (readOnly, Self.message, .readOnly, "NTAG213", .readOnly),
            (ntag(), long, .messageTooLong, "NTAG213", .readWrite),
            (classic, Self.message, .unsupported, "MIFARE Classic 1K", nil),
        ]
        for (tag, message, code, product, access) in rows {
            for asksProduct in [true, false] {
                let outcome = try await Self.work(with: tag) { tag throws(TagError) in
                    await tag.write(message, checks: true, locks: true, describing: asksProduct ? .product : .content)
                }
                let failure = try #require(outcome.failure)
                #expect(
                    failure.error.code == code && !failure.isContentUnknown && "\(failure.step)" == "writing",
                    "\(product)"
                )
                #expect(outcome.findings.ndefStatus.detection?.access == access, "\(product)")
                #expect(outcome.findings.product == (asksProduct ? product : nil))
                if access == nil { #expect(outcome.findings.ndefStatus.error?.code == .unsupported) }
            }
        }
        #expect(readOnly.contents.memory == contents.memory)
    }

    @Test func `reader unplugged during a write: isContentUnknown is true, and no command follows`() async throws {
        let reader = PluggedReader(ntag())
        let (session, tags) = try await Scene(.field(reader)).finding(plan: .everyTag)
        let outcome = try await session.work(with: tags[0]) { tag throws(TagError) in
            reader.pullsOutAt.withLock { $0 = 0x30 }
            let before = reader.virtual.statistics.exchanges
            let outcome = await tag.write(Self.message, checks: true, locks: false, describing: .product)
            #expect(reader.virtual.statistics.exchanges == before)
            return outcome
        }
        let failure = try #require(outcome.failure)
        #expect(failure.error.code == .readerUnavailable && failure.isContentUnknown)
        #expect(outcome.findings.product == nil && outcome.findings.ndefStatus.message == nil)
    }

    @Test func `tag that leaves at any exchange of a write: isContentUnknown is true, and the failure names the step`()
        async throws
    {
        var steps: [String] = []
        for exchange in 0..<200 where steps.last != "done" {
            let outcome = try await Self.work(with: ntag(), faults: .loss(atExchange: exchange)) {
                tag throws(TagError) in
                await tag.write(Self.message, checks: true, locks: true)
            }
            let step = outcome.failure.map { "\($0.step)" } ?? "done"
            if let failure = outcome.failure {
                #expect(failure.error.code == .tagLost && failure.isContentUnknown, "exchange \(exchange)")
            }
            if step != steps.last { steps.append(step) }
        }
        #expect(steps == ["writing", "checking", "locking", "done"])
    }

    // MARK: The tag in a field, outside a session

    @Test func `withActivatedTag: works with the first tag, or throws tagLost or unsupported`() async throws {
        let rows: [([String], Result<ForumTagType, TagError>)] = [
            ([], .failure(TagError(.tagLost, ""))), (["Classic 1K"], .failure(TagError(.unsupported, ""))),
            (["NTAG213"], .success(.type2)), (["FeliCa Lite-S"], .success(.type3)),
            (["generic Type 4"], .success(.type4)), (["generic Type 4B"], .success(.type4)),
            (["ICODE SLIX"], .success(.type5)), (["NTAG213", "ICODE SLIX"], .success(.type2)),
        ]
        for (names, expected) in rows {
            let reader = PluggedReader()
            for name in names { reader.virtual.bring(try #require(TagProduct(named: name)).blank().makeTag()) }
            let result: Result<ForumTagType, TagError>
            do throws(TagError) {
                let type = try await withActivatedTag(in: reader) { tag throws(TagError) in
                    _ = try await tag.detectNDEF()
                    return tag.type ?? .type1
                }
                result = .success(type)
            } catch { result = .failure(error) }
            #expect(result == expected, "\(names)")
        }
    }

}
