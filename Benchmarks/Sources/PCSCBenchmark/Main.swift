// SPDX-License-Identifier: Apache-2.0
import CCardLoop
import Foundation
import Glibc
import PCSCDriver
import ProcessFigures
import TagLink

/// Compares an APDU through the PC/SC driver with the same SCardTransmit from C, in turns in one run. Then measures the CPU
/// time of waiting for a tag.
@main
struct PCSCBenchmark {
    static let usage = """
        Usage: pcsc-benchmark [--json] [--reader NAME] [--rounds N] [--commands N] [--wait S]
          --reader NAME  a part of the reader's name (default: the first); a card with ISO-DEP must be on it
          --rounds N     rounds, each with a turn of C and a turn of the driver (default 40)
          --commands N   commands per turn (default 200)
          --wait S       seconds to wait for a tag and count CPU (default 2)

        """

    static func main() async throws {
        var json = false
        var choice = ReaderChoice.first
        var rounds = 40
        var commands = 200
        var wait = 2.0
        var arguments = CommandLine.arguments.dropFirst()
        while let argument = arguments.popFirst() {
            switch argument {
            case "--json": json = true
            case "--reader": choice = arguments.popFirst().map(ReaderChoice.named) ?? choice
            case "--rounds": rounds = arguments.popFirst().flatMap { Int($0) } ?? rounds
            case "--commands": commands = arguments.popFirst().flatMap { Int($0) } ?? commands
            case "--wait": wait = arguments.popFirst().flatMap { Double($0) } ?? wait
            default:
                FileHandle.standardError.write(Data(usage.utf8))
                exit(argument == "--help" ? 0 : 2)
            }
        }
        let reader = try PCSCReader.find(choice)
        // GET CHALLENGE: short command and response.
        let command: [UInt8] = [0x00, 0x84, 0x00, 0x00, 0x08]
        var native: [UInt64] = []
        var driver: [UInt64] = []
        var ratios: [Double] = []
        for round in 0..<max(1, rounds) {
            // Take turns at going first, because the first turn changes caches and clock rates.
            let isDriverFirst = round % 2 == 1
            var through = isDriverFirst ? try await driverTurn(reader, command, commands) : []
            let fromC = try await nativeTurn(reader, command, commands)
            if !isDriverFirst { through = try await driverTurn(reader, command, commands) }
            native += fromC
            driver += through
            // Turns that follow each other run under the same load.
            ratios.append(Double(median(through)) / Double(median(fromC)))
        }
        let before = ProcessUsage.processorNanoseconds
        let observation = reader.observePresence {}
        try await Task.sleep(for: .seconds(wait))
        let waiting = ProcessUsage.processorNanoseconds - before
        withExtendedLifetime(observation) {}
        let (c, swift) = (median(native), median(driver))
        let ratio = ratios.sorted()[ratios.count / 2]
        if json {
            print(
                """
                {"reader":"\(reader.name)","exchanges":\(native.count),"c_ns":\(c),"driver_ns":\(swift),\
                "ratio":\(String(format: "%.3f", ratio)),"waiting_cpu_ns":\(waiting),"waiting_s":\(wait)}
                """
            )
        } else {
            print(
                """
                \(reader.name): an APDU takes \(c) ns from C and \(swift) ns through the driver (medians of \
                \(native.count)), \(String(format: "%.3f", ratio)) times as long (median of rounds); waiting \(wait) s took \
                \(waiting / 1000) us of CPU
                """
            )
        }
    }

    static func median(_ times: [UInt64]) -> UInt64 { times.sorted()[times.count / 2] }

    /// Runs on the same thread as the driver's turn, because the thread affects how soon the service's answer wakes it.
    static func nativeTurn(_ reader: PCSCReader, _ command: [UInt8], _ count: Int) async throws -> [UInt64] {
        let name = reader.name
        return try await Task(executorPreference: reader.executor) {
            var times = [UInt64](repeating: 0, count: count)
            let status = unsafe card_loop(name, command, command.count, count, &times)
            guard status == 0 else { throw LinkError(.readerUnavailable, "SCardTransmit from C gave \(status).") }
            return times
        }.value
    }

    /// Runs on the driver's own thread, as a session's commands do.
    static func driverTurn(_ reader: PCSCReader, _ command: [UInt8], _ count: Int) async throws -> [UInt64] {
        let tags = try await reader.discover(Set(Technology.allCases), systemCodes: [])
        guard let tag = tags.first, case .commands(let link, _) = tag.port, let executor = reader.executor else {
            throw LinkError(.unsupported, "There is no card with ISO-DEP on the reader.")
        }
        let times = try await Sender(executor: executor).send(command, count, to: link)
        await reader.release()
        return times
    }

    /// Sends commands as a session does: an actor on the driver's thread.
    private actor Sender {
        private nonisolated let executor: any SerialExecutor & TaskExecutor
        nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

        init(executor: any SerialExecutor & TaskExecutor) { self.executor = executor }

        func send(_ command: [UInt8], _ count: Int, to link: any APDULink) async throws -> [UInt64] {
            var times: [UInt64] = []
            times.reserveCapacity(count)
            for _ in 0..<count {
                let start = now()
                _ = try await link.transmit(command)
                times.append(now() - start)
            }
            return times
        }
    }

    static func now() -> UInt64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
