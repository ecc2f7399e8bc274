// SPDX-License-Identifier: Apache-2.0
import Dispatch
import LinuxSupport
import TagLink

/// The only user of a chip. It runs one operation after the other, on its own thread.
actor ChipWorker {
    private nonisolated let executor = LineExecutor()
    private nonisolated let interrupt = Interrupt()
    private nonisolated let lastFirmware = Locked<PN532Chip.Firmware?>(nil)
    private let path: String
    private let speed: SerialSpeed
    private let limits: HostLimits
    private var chip: PN532Chip?

    /// The target that receives frames now.
    var current: TagHandle?
    /// Whether that target was found just now and has received no command yet.
    var isUntouched = false
    /// Counts the lists of targets. A target that an earlier list found is no longer selected.
    var generation = 0

    init(_ line: SerialLineName, _ limits: HostLimits) {
        path = line.path
        speed = line.speed
        self.limits = limits
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    /// The firmware that the chip reported when it was last opened.
    nonisolated var firmware: PN532Chip.Firmware? { lastFirmware.withLock { $0 } }

    /// Runs an operation on the chip, and opens the chip if necessary.
    ///
    /// The operation stops when the caller's task is cancelled. If the chip does not answer any more, it is closed, and
    /// the next operation opens it again.
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

    /// Switches the field off and closes the line, so that other programs can use it.
    func close() {
        chip?.close()
        forget()
    }
}

/// Runs an actor on a thread that may block on a serial line.
final class LineExecutor: SerialExecutor {
    private let queue = DispatchQueue(label: "org.opencorenfc.pn532")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { [self] in unsafe job.runSynchronously(on: asUnownedSerialExecutor()) }
    }
}
