// SPDX-License-Identifier: Apache-2.0
import Dispatch
import TagLink

/// The one place from which a chip is used: on a thread of its own, one operation after the other.
actor ChipWorker {
    private nonisolated let executor = LineExecutor()
    private nonisolated let interrupt = Interrupt()
    private nonisolated let lastFirmware = Locked<PN532Chip.Firmware?>(nil)
    private let path: String
    private let speed: SerialSpeed
    private let limits: HostLimits
    private var chip: PN532Chip?

    /// The target that frames go to now.
    var current: TagHandle?
    /// Whether that one has been found just now, and has had no command yet.
    var isUntouched = false
    /// Counts lists of targets: what an earlier one found is gone.
    var generation = 0

    init(_ line: SerialLineName, _ limits: HostLimits) {
        path = line.path
        speed = line.speed
        self.limits = limits
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    /// What the chip said of itself when it was opened last.
    nonisolated var firmware: PN532Chip.Firmware? { lastFirmware.withLock { $0 } }

    /// Does a piece of work on the chip, which is opened when it is not open.
    ///
    /// The work stops when the caller's task is cancelled. A chip that is gone is closed, and opened again the next time.
    nonisolated func perform<Value: Sendable>(
        _ work: @Sendable (isolated ChipWorker, PN532Chip, Cancellation) throws(LinkError) -> Value
    ) async throws(LinkError) -> Value {
        let cancellation = Cancellation(interrupt)
        let result = await withTaskCancellationHandler {
            await outcome(of: work, cancellation)
        } onCancel: {
            cancellation.cancel()
        }
        return try result.get()
    }

    private func outcome<Value: Sendable>(
        of work: @Sendable (isolated ChipWorker, PN532Chip, Cancellation) throws(LinkError) -> Value,
        _ cancellation: Cancellation
    ) -> Result<Value, LinkError> {
        do throws(LinkError) {
            guard !cancellation.isCancelled else { throw SerialPortError.cancelled }
            return .success(try work(self, try open(cancellation), cancellation))
        } catch {
            if error.code == .readerUnavailable { forget() }
            return .failure(error)
        }
    }

    private func open(_ cancellation: Cancellation) throws(LinkError) -> PN532Chip {
        if let chip { return chip }
        let chip = try PN532Chip(path: path, speed: speed, limits: limits, interrupt: interrupt, cancellation)
        self.chip = chip
        let firmware = chip.firmware
        lastFirmware.withLock { $0 = firmware }
        return chip
    }

    private func forget() {
        chip = nil
        current = nil
        generation += 1
    }

    /// Turns the field off and lets other programs use the line.
    func close() {
        chip?.close()
        forget()
    }
}

/// Runs an actor on a thread that may wait for a serial line.
final class LineExecutor: SerialExecutor {
    private let queue = DispatchQueue(label: "org.opencorenfc.pn532")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { [self] in unsafe job.runSynchronously(on: asUnownedSerialExecutor()) }
    }
}
