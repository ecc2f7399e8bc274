// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagProtocols
import Testing
import VirtualTags

/// Every cut of every write: the tag's message after a power loss before, during or after any write command.
///
/// A cut between two commands leaves the old message, none, or the new one. So does a cut during a command that does not
/// change the message, for any remains of the programmed unit. The critical commands are those that change the message:
/// unless the chip programs a unit completely or not at all, as FeliCa does, some bits of the length may remain, and the
/// message can be anything. These windows are one command wide. There are two, the command that empties the tag and the one
/// that writes the new length, or one if a single command writes the whole message.
@Suite struct `Every cut of every write` {
    /// An old message and a new one, by their lengths.
    struct Change: Sendable, CustomStringConvertible {
        var old: Int
        var new: Int
        var description: String { "\(old) to \(new) bytes" }
    }

    /// One byte; the edge where the length grows from one byte to three, both ways; half and full, over nothing and
    /// over longer and shorter messages; from full to empty. A tag that is too small for the edge has it at its largest.
    static func changes(_ capacity: Int) -> [Change] {
        let half = capacity / 2
        let edge = min(254, capacity - 1)
        return [
            Change(old: 0, new: 1), Change(old: half, new: 1), Change(old: edge, new: edge + 1),
            Change(old: edge + 1, new: edge), Change(old: 0, new: half), Change(old: capacity, new: half),
            Change(old: 0, new: capacity), Change(old: half, new: capacity), Change(old: capacity, new: 0),
        ]
    }

    static let mixed: [TornWrite] = [.mixed(seed: 1), .mixed(seed: 0x5DEE_CE66)]

    /// What a tag says to a reader that has never seen it; nil when it says nothing that is a message.
    static func reading(_ model: ProductModel, _ tag: any VirtualTag) async throws -> [UInt8]? {
        let reader = try await ProductBench(model.copy(tag)).reader
        do throws(TagError) {
            return try await reader.readNDEF()
        } catch {
            // Only the length may be invalid, and the next message repairs it.
            #expect(error.code == .lengthOverrun, "\(model.name): \(error)")
            let broken = model.copy(tag)
            try await ProductBench(broken).reader.writeNDEF(message(9))
            #expect(try await ProductBench(model.copy(broken)).reader.readNDEF() == message(9))
            return nil
        }
    }

    /// Checks what is left of one command, and counts the windows.
    struct Judge {
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

        func isKnown(_ message: [UInt8]?) -> Bool {
            message == old || message == [] || message == new
        }

        /// Judges a command by the message before it, after it, and after a cut during it.
        mutating func judge(_ command: Int, before: [UInt8]?, after: [UInt8]?, torn: [[UInt8]?]) {
            #expect(isKnown(after), "\(model.name), \(change): after command \(command)")
            let isWindow = before != after && !model.isProtected
            if isWindow { windows += 1 }
            for rest in torn where !isWindow {
                #expect(isKnown(rest), "\(model.name), \(change): torn in command \(command)")
            }
        }
    }

    /// Writes once, and cuts every command on the way: the tag gets it first with the power going, as a fault plan has it,
    /// and what is left is read from a copy; then it gets the command whole, as if nothing had been. For tags without a
    /// block protocol, which do the same on the same command. Of long writes a sample of the commands is judged.
    @Test(arguments: ProductModel.all.filter(\.isStateless)) func `Types 1, 2, 3 and 5`(
        _ model: ProductModel
    ) async throws {
        for change in Self.changes(model.capacity) {
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
            #expect(judge.windows <= 2, "\(model.name), \(change)")
            if model.isProtected { #expect(judge.windows == 0) }
        }
    }

    /// Cuts with a fault plan and the tag lost to the reader: every command of every product, with what is left of the
    /// torn unit old, new and mixed. Of long writes a sample is cut; those of Types 1, 2, 3 and 5 are the other test's.
    @Test(arguments: ProductModel.all) func `Every product, by fault plans`(_ model: ProductModel) async throws {
        for change in Self.changes(model.capacity) where !model.isStateless || change.old + change.new <= 60 {
            var judge = Judge(model, change)
            let whole = CountingTag(model.make(judge.old))
            try await ProductBench(whole).reader.writeNDEF(judge.new)
            let count = whole.writes
            var before: [UInt8]? = judge.old
            var next = 0
            for index in cutSample(of: count) {
                let command = index + 1
                // In the middle of a long write the tag is empty.
                if index != next { before = [] }
                next = command
                let after = try await cut(model, judge, .tear(afterWrite: command))
                var torn: [[UInt8]?] = []
                for rest in Self.mixed {
                    torn.append(try await cut(model, judge, .tear(duringWrite: command, leaving: rest)))
                }
                #expect(try await cut(model, judge, .tear(duringWrite: command, leaving: .old)) == before)
                judge.judge(command, before: before, after: after, torn: torn)
                before = after
            }
            #expect(before == judge.new)
            #expect(judge.windows <= 2, "\(model.name), \(change)")
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
}
