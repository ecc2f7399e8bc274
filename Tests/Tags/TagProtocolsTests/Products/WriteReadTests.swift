// SPDX-License-Identifier: Apache-2.0
import PropertyTesting
import TagLink
import TagProtocols
import Testing
import VirtualTags

/// Any writes one after the other, on any product, by readers that know the tag and ones that don't.
@Suite struct `Any write, and any read after it` {
    private struct Story: Sendable, CustomStringConvertible {
        struct Write: Sendable {
            var length: Int
            var seed: UInt8
            /// Whether another reader does the write.
            var isFromNewReader: Bool
        }

        var model: ProductModel
        var first: Int
        var writes: [Write]

        init(_ draws: inout Draws) {
            let model = draws.element(of: ProductModel.all)
            self.model = model
            first = Self.length(model, &draws)
            writes = draws.array(count: 1...4) {
                Write(
                    length: Self.length(model, &$0),
                    seed: UInt8($0.int(in: 0...255)),
                    isFromNewReader: $0.happens(onceIn: 2)
                )
            }
        }

        /// A length, more often than not one at which a length field or a reader's commands change.
        private static func length(_ model: ProductModel, _ draws: inout Draws) -> Int {
            let edges = [0, 1, 2, 12, 13, 253, 254, 255, 256, model.capacity - 1, model.capacity, model.capacity + 1]
            return draws.happens(onceIn: 3)
                ? draws.int(in: 0...min(model.capacity, 700)) : min(draws.element(of: edges), model.capacity + 1)
        }

        var description: String {
            "\(model.name), \(first) bytes, then "
                + writes.map { "\($0.length)\($0.isFromNewReader ? " by another reader" : "")" }.joined(separator: ", ")
        }
    }

    @Test func `Every reader reads what was written last, and a message that is too long changes nothing`() async throws
    {
        try await checkRule(cases: 250, of: { Story(&$0) }) { story in
            let model = story.model
            var tag = model.make(message(min(story.first, model.capacity)))
            var bench = try await ProductBench(tag)
            var expected = message(min(story.first, model.capacity))
            for write in story.writes {
                if write.isFromNewReader {
                    tag = model.copy(tag)
                    bench = try await ProductBench(tag)
                }
                let new = message(write.length, seed: write.seed)
                do throws(TagError) {
                    try await bench.reader.writeNDEF(new)
                    if write.length > model.capacity { return "\(write.length) bytes are written." }
                    expected = new
                } catch {
                    if write.length <= model.capacity || error.code != .messageTooLong { throw error }
                }
                if try await bench.reader.readNDEF() != expected { return "\(write): the writer reads another." }
                let other = try await ProductBench(model.copy(tag)).reader
                if try await other.detectNDEF().messageLength != expected.count { return "\(write): another length." }
                if try await other.readNDEF() != expected { return "\(write): another reader reads another." }
            }
            return nil
        }
    }
}
