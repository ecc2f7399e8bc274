// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagProtocols
import Testing
import VirtualTags

/// One fault at each exchange of each procedure: what is made good, and what ends with which error.
struct FaultTests {
    private enum Procedure: CaseIterable {
        case detect, read, write, lock

        func run(_ reader: any ForumTag) async throws {
            switch self {
            case .detect: _ = try await reader.detectNDEF()
            case .read: #expect(try await reader.readNDEF() == FaultTests.old)
            case .write: try await reader.writeNDEF(FaultTests.new)
            case .lock: try await reader.lock()
            }
        }
    }

    private static let old = message(60, seed: 0xFF)
    private static let new = message(40)

    /// The products, and which procedures each has without a key.
    private static func procedures(_ model: ProductModel) -> [Procedure] {
        Procedure.allCases.filter { $0 != .lock || !model.name.hasPrefix("DESFire") }
    }

    /// How many exchanges a procedure makes.
    private static func count(_ bench: ProductBench, _ procedure: () async throws -> Void) async throws -> Int {
        let before = bench.link.statistics.exchanges
        try await procedure()
        let count = bench.link.statistics.exchanges - before
        try #require(count > 0)
        return count
    }

    private static func exchanges(_ procedure: Procedure, _ model: ProductModel) async throws -> Int {
        let bench = try await ProductBench(model.make(old))
        return try await count(bench) { try await procedure.run(bench.reader) }
    }

    private static let samples = ProductModel.samples.filter { $0.name != "MIFARE Ultralight" }

    @Test(arguments: samples)
    func `One answer or request lost, damaged or late at any exchange: the procedure succeeds`(model: ProductModel)
        async throws
    {
        for procedure in Self.procedures(model) {
            for exchange in cutSample(of: try await Self.exchanges(procedure, model)) {
                var effects: [Fault.Effect] = [.mute, .deaf, .delay(.milliseconds(50)), .bitError]
                // Nothing shows a wrong bit in the four bits of a Type 2 acknowledgement.
                if model.isType2, procedure == .write || procedure == .lock { effects.removeLast() }
                for effect in effects {
                    let tag = model.make(Self.old)
                    let bench = try await ProductBench(tag)
                    bench.field.arm(.effect(effect, atExchange: exchange))
                    let code = await errorCode { try await procedure.run(bench.reader) }
                    // A FeliCa Lite-S that is locked already refuses the lock that is sent again.
                    let mayRefuse = procedure == .lock && model.name == "FeliCa Lite-S" && code == .updateFailed
                    #expect(code == nil || mayRefuse, "\(model.name), \(procedure): \(effect) at exchange \(exchange)")
                    let found = try await ProductBench(model.copy(tag)).reader.readNDEF()
                    #expect(found == (procedure == .write ? Self.new : Self.old), "\(procedure), \(exchange)")
                }
            }
        }
    }

    @Test(arguments: samples)
    func `A tag that leaves at any exchange: the procedure throws tagLost, and nothing more is sent`(
        model: ProductModel
    ) async throws {
        for procedure in Self.procedures(model) {
            for exchange in cutSample(of: try await Self.exchanges(procedure, model)) {
                let bench = try await ProductBench(model.make(Self.old))
                bench.field.arm(.loss(atExchange: exchange))
                let code = await errorCode { try await procedure.run(bench.reader) }
                #expect(code == .tagLost, "\(model.name), \(procedure): \(exchange)")
                let count = bench.link.statistics.exchanges
                #expect(await errorCode { _ = try await bench.reader.readNDEF() } == .tagLost)
                #expect(await !bench.reader.isPresent())
                #expect(bench.link.statistics.exchanges == count, "\(model.name), \(procedure): \(exchange)")
            }
        }
    }

    /// A lock can't be taken back, so one refusal on the way may not send it to a wrong place.
    @Test(arguments: ["NTAG213", "NTAG215", "NTAG216", "MIFARE Ultralight C", "MIFARE Ultralight"])
    func `Type 2 lock with one NAK at any exchange: the tag is locked, or keeps its message`(name: String) async throws
    {
        let model = try ProductModel.named(name)
        func memory(_ tag: any VirtualTag) throws -> [UInt8] { try #require(tag as? VirtualType2Tag).contents.memory }
        let whole = model.make(message(model.capacity))
        let bench = try await ProductBench(whole)
        for exchange in 0..<(try await Self.count(bench) { try await bench.reader.lock() }) {
            let tag = model.make(message(model.capacity))
            let bench = try await ProductBench(tag)
            bench.field.arm(.effect(.refusal(0), atExchange: exchange))
            if await errorCode({ try await bench.reader.lock() }) == nil {
                #expect(try memory(tag) == memory(whole), "refused at \(exchange)")
            } else {
                let found = try await ProductBench(model.copy(tag)).reader.readNDEF()
                #expect(found == message(model.capacity), "refused at \(exchange)")
            }
        }
    }

    @Test func `Type 2 read over two sectors: one fault at any exchange, and the message is read all the same`()
        async throws
    {
        let model = try ProductModel.named("NTAG I2C 2K")
        let bench = try await ProductBench(model.make(message(1300)))
        for exchange in 0..<(try await Self.count(bench) { _ = try await bench.reader.readNDEF() }) {
            for effect: Fault.Effect in [.mute, .deaf, .refusal(1), .delay(.milliseconds(50))] {
                let bench = try await ProductBench(model.make(message(1300)))
                bench.field.arm(.effect(effect, atExchange: exchange))
                #expect(try await bench.reader.readNDEF() == message(1300), "\(effect) at exchange \(exchange)")
            }
        }
    }
}

extension ProductModel { fileprivate var isType2: Bool { ProductModel.type2.contains { $0.name == name } } }
