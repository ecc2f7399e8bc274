// SPDX-License-Identifier: Apache-2.0
import CoreNFC
import Foundation
import NFCTestKit
import Testing

@Suite(.timeLimit(.minutes(10))) struct `Fields that are open at once` {
    @Test func `Two hundred have nothing to do with each other`() async throws {
        let traces = try await withThrowingTaskGroup(of: (Int, Trace, TagMessage).self) { group in
            for number in 0..<200 {
                group.addTask {
                    try await withField(seed: UInt64(number % 10)) { field in
                        // Some wait for their tag, and some first let time pass.
                        async let old = field.completion("write") {
                            Writer("https://example.com/\(number)/new").start($0)
                        }.get()
                        if number.isMultiple(of: 3) { await field.wait(for: .seconds(number % 50)) }
                        try await field.bring(.product("NTAG215", holding: .uri("https://example.com/\(number)")))
                        #expect(try await old == "https://example.com/\(number)")
                        await field.settle()
                        return (number, field.trace, try await field.tags[0].message())
                    }
                }
            }
            return try await group.reduce(into: [:]) { $0[$1.0] = ($1.1, $1.2) }
        }
        #expect(traces.count == 200)
        for (number, (trace, message)) in traces {
            #expect(message == .uri("https://example.com/\(number)/new"))
            // One alone does the same, byte for byte and moment for moment.
            guard number.isMultiple(of: 40) else { continue }
            let alone = try await withField(seed: UInt64(number % 10)) { field in
                async let old = field.completion("write") {
                    Writer("https://example.com/\(number)/new").start($0)
                }.get()
                if number.isMultiple(of: 3) { await field.wait(for: .seconds(number % 50)) }
                try await field.bring(.product("NTAG215", holding: .uri("https://example.com/\(number)")))
                _ = try await old
                await field.settle()
                return field.trace
            }
            #expect(alone == trace, "\(number)")
        }
    }

    @Test func `The same seed gives the same trace while the processors are busy`() async throws {
        @Sendable func trace() async throws -> String {
            try await withField(.product("NTAG215", holding: .uri("https://example.com/old")), seed: 7) { field in
                _ = try await field.completion("write") { Writer("https://example.com/new").start($0) }.get()
                await field.wait(for: .seconds(3))
                return field.trace.description
            }
        }
        let first = try await trace()
        let isBusy = Flag()
        for _ in 0..<3 {
            Thread.detachNewThread {
                var number: UInt64 = 1
                while isBusy.isSet {
                    // Busy, with a rest now and then: time moves when all rest.
                    for _ in 0..<5_000 { number = number &* 6_364_136_223_846_793_005 &+ 1 }
                    usleep(2000)
                }
            }
        }
        for _ in 0..<20 { #expect(try await trace() == first) }
        isBusy.isSet = false
    }

    final class Flag: @unchecked Sendable {
        // Sendable because of its lock.
        private let lock = NSLock()
        private var value = true
        var isSet: Bool {
            get { lock.withLock { value } }
            set { lock.withLock { value = newValue } }
        }
    }
}
