// SPDX-License-Identifier: Apache-2.0
import Synchronization
import TagLink
import TagProtocols
import Testing
import VirtualTags

/// Every cut of every write: the message after a power loss before, during or after any command that programs a tag.
///
/// A cut between two commands leaves the old message, none, or the new one. So does a cut during a command that does not
/// change the message, whatever remains of the programmed unit. The commands that change the message are windows: unless the
/// chip programs a unit completely or not at all, as FeliCa does, some bits of the length may remain, and the message can be
/// anything. There are two windows, the command that empties the tag and the one that writes the new length, or one if a
/// single command writes the whole message.
struct TearTests {
    /// An old message and a new one, by their lengths.
    struct Change: Sendable, CustomStringConvertible {
        var old: Int
        var new: Int
        var description: String { "\(old) to \(new) bytes" }
    }

    /// The edge where the length grows from one byte to three, and from full to half. Of each memory and command set also
    /// one byte, the edge the other way, and from and to nothing. A tag that is too small for the edge has it at its largest.
    private static func changes(_ model: ProductModel) -> [Change] {
        let (capacity, half) = (model.capacity, model.capacity / 2)
        let edge = min(254, capacity - 1)
        let changes = [Change(old: edge, new: edge + 1), Change(old: capacity, new: half)]
        guard ProductModel.samples.contains(where: { $0.name == model.name }) else { return changes }
        return changes + [
            Change(old: half, new: 1), Change(old: edge + 1, new: edge), Change(old: 0, new: half),
            Change(old: 0, new: capacity), Change(old: capacity, new: 0),
        ]
    }

    fileprivate static let mixed: [TornWrite] = [.mixed(seed: 1), .mixed(seed: 0x5DEE_CE66)]

    /// The message that a new reader finds on a tag; nil when its length is invalid, which the next write repairs.
    private static func reading(_ model: ProductModel, _ tag: any VirtualTag) async throws -> [UInt8]? {
        let reader = try await ProductBench(model.copy(tag)).reader
        do throws(TagError) { return try await reader.readNDEF() } catch {
            #expect(error.code == .lengthOverrun, "\(model.name): \(error)")
            let broken = model.copy(tag)
            try await ProductBench(broken).reader.writeNDEF(message(9))
            #expect(try await ProductBench(model.copy(broken)).reader.readNDEF() == message(9))
            return nil
        }
    }

    /// Checks what is left of each command of a write, and counts the windows.
    private struct Judge {
        let model: ProductModel
        let change: Change
        let old: [UInt8]
        let new: [UInt8]
        var windows = 0

        init(_ model: ProductModel, _ change: Change) {
            self.model = model
            self.change = change
            old = message(change.old, seed: 0xA5)
            new = message(change.new, seed: 0x3C)
        }

        mutating func judge(_ command: Int, before: [UInt8]?, after: [UInt8]?, torn: [[UInt8]?]) {
            func isKnown(_ message: [UInt8]?) -> Bool { message == old || message == [] || message == new }
            #expect(isKnown(after), "\(model.name), \(change): after command \(command)")
            guard before == after || model.isProtected else {
                windows += 1
                return
            }
            for rest in torn { #expect(isKnown(rest), "\(model.name), \(change): torn in command \(command)") }
        }

        func finish() { #expect(windows <= (model.isProtected ? 0 : 2), "\(model.name), \(change)") }
    }

    /// Writes once, and cuts every command on the way: the tag gets it first with the power going, and what is left is read
    /// from a copy; then it gets the command whole. Of long writes a sample of the commands is judged.
    @Test(arguments: ProductModel.stateless)
    func `Write of Type 1, 2, 3, 5: cut in any command (sampled if long), the tag has the old message, none or the new`(
        model: ProductModel
    ) async throws {
        for change in Self.changes(model) {
            var judge = Judge(model, change)
            let tag = TornTag(model.make(judge.old), keeping: model.copy)
            try await ProductBench(tag).reader.writeNDEF(judge.new)
            let cuts = tag.cuts
            var last: (index: Int, says: [UInt8]?) = (0, judge.old)
            for index in cutSample(of: cuts.count) {
                let cut = cuts[index]
                let before = last.index == index ? last.says : try await Self.reading(model, cut.before)
                let after = try await Self.reading(model, index + 1 < cuts.count ? cuts[index + 1].before : tag.inner)
                var torn: [[UInt8]?] = []
                for rest in cut.torn { torn.append(try await Self.reading(model, rest)) }
                judge.judge(index + 1, before: before, after: after, torn: torn)
                last = (index + 1, after)
            }
            #expect(last.index == cuts.count && last.says == judge.new)
            judge.finish()
        }
    }

    @Test(arguments: ProductModel.type4)
    func `Write of Type 4: cut in any command (sampled if long), the tag has the old message, none or the new`(
        model: ProductModel
    )
        async throws
    {
        for change in Self.changes(model) {
            var judge = Judge(model, change)
            let bench = try await ProductBench(model.make(judge.old))
            try await bench.reader.writeNDEF(judge.new)
            var before: [UInt8]? = judge.old
            var next = 0
            for index in cutSample(of: bench.field.writeCount) {
                // In the middle of a long write the tag is empty.
                if index != next { before = [] }
                next = index + 1
                let after = try await cut(model, judge, .tear(afterWrite: next))
                var torn: [[UInt8]?] = []
                for rest in Self.mixed {
                    torn.append(try await cut(model, judge, .tear(duringWrite: next, leaving: rest)))
                }
                #expect(try await cut(model, judge, .tear(duringWrite: next, leaving: .old)) == before)
                judge.judge(next, before: before, after: after, torn: torn)
                before = after
            }
            #expect(before == judge.new)
            judge.finish()
        }
    }

    /// Writes with a plan armed until the tag is lost, and reads what is left.
    private func cut(_ model: ProductModel, _ judge: Judge, _ plan: FaultPlan) async throws -> [UInt8]? {
        let tag = model.make(judge.old)
        let bench = try await ProductBench(tag)
        bench.field.arm(plan)
        await #expect(throws: TagError(.tagLost, ""), "\(model.name), \(judge.change), \(plan)") {
            try await bench.reader.writeNDEF(judge.new)
        }
        return try await Self.reading(model, tag)
    }

    /// Without the DESFire, which can't be locked without its key.
    @Test(arguments: ProductModel.samples.filter { !$0.name.hasPrefix("DESFire") })
    func `Lock: a power cut after any command (up to the 40th) keeps the message, and a second lock completes it`(
        model: ProductModel
    ) async throws {
        let whole = model.make(message(20))
        try await ProductBench(whole).reader.lock()
        var cuts = 0
        for write in 0..<40 {
            let tag = model.make(message(20))
            let bench = try await ProductBench(tag)
            bench.field.arm(.tear(afterWrite: write))
            let code = await errorCode { try await bench.reader.lock() }
            #expect(try await ProductBench(model.copy(tag)).reader.readNDEF() == message(20), "\(write)")
            guard code == .tagLost else {
                #expect(code == nil)
                break
            }
            cuts += 1
            let again = await errorCode { try await ProductBench(model.copy(tag)).reader.lock() }
            #expect(again == nil || again == .readOnly && TagContents(of: tag) == TagContents(of: whole), "\(write)")
        }
        #expect(cuts > 0)
    }

    @Test(arguments: [("Topaz 96", 5...9), ("NTAG213", 14...21), ("NTAG216", 14...31), ("ICODE SLIX2", 5...9)])
    func `Lock of blocks, cut at any exchange: the message stays, the same lock completes it, and others stay open`(
        name: String,
        blocks: ClosedRange<Int>
    ) async throws {
        let model = try ProductModel.named(name)
        func lock(_ tag: any VirtualTag, _ plan: FaultPlan = FaultPlan()) async throws -> TagError.Code? {
            let bench = try await ProductBench(tag)
            bench.field.arm(plan)
            let reader = try #require(bench.reader as? any BlockLockingTag)
            return await errorCode { _ = try await reader.lock(blocks: blocks, performs: true) }
        }
        let whole = model.make(message(20))
        #expect(try await lock(whole) == nil)
        var cuts = 0
        while true {
            let tag = model.make(message(20))
            guard try await lock(tag, .loss(atExchange: cuts)) != nil else { break }
            cuts += 1
            #expect(try await ProductBench(model.copy(tag)).reader.readNDEF() == message(20), "\(cuts)")
            let again = model.copy(tag)
            #expect(try await lock(again) == nil, "\(cuts)")
            #expect(TagContents(of: again) == TagContents(of: whole), "\(cuts)")
        }
        #expect(cuts > 2)
        // The blocks before stay open; a password guards the lock bits, too.
        try await ProductBench(whole).reader.writeNDEF(message(4))
        guard let owner = try await ProductBench(whole).reader as? Type2Tag else { return }
        _ = try await owner.changeProtection(with: TagSecret([1, 2, 3, 4])) { $0.first = 2 }
        let stranger = try #require(try await ProductBench(model.copy(whole)).reader as? Type2Tag)
        #expect(await errorCode { _ = try await stranger.lock(blocks: 10...11, performs: false) } == .keyNeeded)
    }

    /// Blank tags: how each is made.
    private static let blanks: [(name: String, make: @Sendable () -> any VirtualTag)] = {
        var list: [(name: String, make: @Sendable () -> any VirtualTag)] = []
        for product in Type1Product.allCases {
            var contents = Type1Contents(blank: product, uid: VirtualType1Tag.defaultUID)
            contents.memory.replaceSubrange(8..<24, with: repeatElement(0, count: 16))
            let blank = contents
            list.append((product.rawValue, { VirtualType1Tag(blank) }))
        }
        for product in Type2Product.all {
            var contents = Type2Contents(blank: product, uid: bytes("04a1b2c3d4e580"))
            contents.memory.replaceSubrange(12..<24, with: repeatElement(0, count: 12))
            let blank = contents
            list.append((product.name, { VirtualType2Tag(blank) }))
        }
        for product in Type5Product.all {
            var contents = Type5Contents(blank: product)
            contents.memory.replaceSubrange(0..<16, with: repeatElement(0, count: 16))
            let blank = contents
            list.append((product.name, { VirtualType5Tag(blank) }))
        }
        return list
    }()

    @Test
    func `Format: a power cut at any command leaves a blank tag or an empty one, and the next format completes it`()
        async throws
    {
        for (name, make) in Self.blanks {
            for write in 0..<20 {
                let tag = make()
                let bench = try await ProductBench(tag)
                #expect(
                    await errorCode { _ = try await bench.reader.detectNDEF() } == .noCapabilityContainer,
                    "\(name)"
                )
                bench.field.arm(.tear(afterWrite: write))
                let code = await errorCode { try await format(bench.reader) }
                #expect(code == nil || code == .tagLost, "\(name), \(write)")
                if code == .tagLost {
                    tag.losePower()
                    let other = try await ProductBench(tag)
                    var left: [UInt8]?
                    let found = await errorCode { left = try await other.reader.readNDEF() }
                    #expect(left == [] || found == .noCapabilityContainer, "\(name), \(write)")
                    other.reader.forgetMemory()
                    try await format(other.reader)
                }
                tag.losePower()
                let again = try await ProductBench(tag)
                let detection = try await again.reader.detectNDEF()
                #expect(detection.messageLength == 0 && detection.access == .readWrite, "\(name), \(write)")
                // A Type 2 tag that is formatted is not written again.
                try await format(again.reader)
                if again.reader.type == .type2 { #expect(again.field.writeCount == 0, "\(name), \(write)") }
                if code == nil { break }
            }
        }
    }
}

/// Replacing all data of a tag, as restore, clone and wipe do, with a power cut after any write.
struct DataReplacementTests {
    /// Large memories only take longer: from 255 bytes on, the length of a message has three bytes.
    private static let models = (ProductModel.type1 + ProductModel.type2 + ProductModel.type5).filter {
        $0.capacity < 500
    }

    /// The memory of a tag, without what a reader can't read.
    private static func memory(_ tag: any VirtualTag) -> [UInt8] {
        switch TagContents(of: tag) {
        case .type1(let contents): contents.memory
        case .type2(let contents): contents.memory
        case .type5(let contents): contents.memory
        default: []
        }
    }

    private static func tag(_ bench: ProductBench) throws -> any DataMemoryTag {
        try #require(bench.reader as? any DataMemoryTag)
    }

    @Test(arguments: models)
    func `Restore, wipe: cut after any write (sampled if long), old data, no message or the new; again completes it`(
        model: ProductModel
    ) async throws {
        let (old, new) = (message(min(40, model.capacity), seed: 0xA5), message(model.capacity, seed: 0x3C))
        for (content, wanted) in [(DataContent.dump(Self.memory(model.make(new))), new), (.empty, [])] {
            let whole = model.make(old)
            let bench = try await ProductBench(whole)
            try await Self.tag(bench).replaceData(with: content)
            #expect(try await ProductBench(model.copy(whole)).reader.readNDEF() == wanted, "\(model.name)")
            for write in cutSample(of: bench.field.writeCount) {
                let tag = model.make(old)
                let cut = try await ProductBench(tag)
                cut.field.arm(.tear(afterWrite: write))
                #expect(await errorCode { try await Self.tag(cut).replaceData(with: content) } == .tagLost)
                var left: [UInt8]?
                let reader = try await ProductBench(model.copy(tag)).reader
                let code = await errorCode { left = try await reader.readNDEF() }
                let isKnown = left == old || left == [] || left == wanted || code == .noMessageTLV
                #expect(isKnown, "\(model.name), \(write): \(String(describing: code))")
                let again = model.copy(tag)
                try await Self.tag(ProductBench(again)).replaceData(with: content)
                #expect(Self.memory(again) == Self.memory(whole), "\(model.name), \(write)")
            }
        }
    }

    @Test(arguments: models)
    func `Restore: a dump of a locked tag does not lock, a locked or read-only tag is refused and unchanged`(
        model: ProductModel
    ) async throws {
        let locked = model.make(message(20))
        try await ProductBench(locked).reader.lock()
        let open = model.make([])
        try await Self.tag(ProductBench(open)).replaceData(with: .dump(Self.memory(locked)))
        let detection = try await ProductBench(model.copy(open)).reader.detectNDEF()
        #expect(detection.access == .readWrite && detection.messageLength == 20, "\(model.name)")
        let before = Self.memory(locked)
        let bench = try await ProductBench(model.copy(locked))
        let code = await errorCode { try await Self.tag(bench).replaceData(with: .empty) }
        #expect(code == .readOnly && bench.field.writeCount == 0 && Self.memory(locked) == before, "\(model.name)")
    }

    @Test func `Wipe: if the tag refuses a write, the pages before it get their bytes back`() async throws {
        let model = try ProductModel.named("ICODE SLIX2")
        let tag = model.make(message(100))
        let before = Self.memory(tag)
        let bench = try await ProductBench(tag)
        bench.field.arm(FaultPlan([.init(.refusal(0x0F), at: .write(4))]))
        #expect(await errorCode { try await Self.tag(bench).replaceData(with: .empty) } == .updateFailed)
        #expect(Self.memory(tag) == before)
    }

    @Test func `Blank: Types 1 and 5 lose the formatting and can be formatted again, page 3 of Type 2 is refused`()
        async throws
    {
        for model in ["Topaz 96", "Topaz 512", "ICODE SLIX", "NTAG213"] {
            let model = try ProductModel.named(model)
            let tag = model.make(message(20))
            let bench = try await ProductBench(tag)
            let code = await errorCode { try await Self.tag(bench).replaceData(with: .blank) }
            guard bench.reader.type != .type2 else {
                #expect(code == .unsupported && bench.field.writeCount == 0)
                continue
            }
            let blank = model.copy(tag)
            let again = try await ProductBench(blank).reader
            #expect(await errorCode { _ = try await again.detectNDEF() } == .noCapabilityContainer)
            again.forgetMemory()
            try await again.format()
            #expect(try await ProductBench(model.copy(blank)).reader.readNDEF().isEmpty)
        }
    }
}

/// A tag that suffers a power cut in every command that programs it, keeps what is left, and carries the command out
/// then: all cuts of a write in one write.
private final class TornTag: VirtualTag {
    /// What one command leaves.
    struct Cut: Sendable {
        /// The tag as it was before the command.
        var before: any VirtualTag
        /// The tag after the power went within it, mixed in two ways.
        var torn: [any VirtualTag]
    }

    let inner: any VirtualTag
    private let copy: @Sendable (any VirtualTag) -> any VirtualTag
    private let state = Mutex<[Cut]>([])

    init(_ inner: any VirtualTag, keeping copy: @escaping @Sendable (any VirtualTag) -> any VirtualTag) {
        self.inner = inner
        self.copy = copy
    }

    var cuts: [Cut] { state.withLock { $0 } }
    var technology: Technology { inner.technology }
    var identifier: [UInt8] { inner.identifier }

    func answer(_ request: Frame, injectedFault: InjectedFault?) -> TagAnswer? {
        let old = copy(inner)
        // A power cut does nothing to a command that does not program.
        guard let probe = inner.answer(request, injectedFault: .powerCut(.old)) else { return nil }
        guard probe.isWrite else { return probe }
        var cut = Cut(before: old, torn: [])
        for rest in TearTests.mixed {
            // The second cut goes over the rest of the first: of its bits more are new.
            _ = inner.answer(request, injectedFault: .powerCut(rest))
            cut.torn.append(copy(inner))
        }
        state.withLock { $0.append(cut) }
        return inner.answer(request, injectedFault: injectedFault)
    }

    func losePower() { inner.losePower() }
}
