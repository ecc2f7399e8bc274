// SPDX-License-Identifier: Apache-2.0
import NFCSessions
import SimulatorDriver
import TagLink

/// Asks a simulator for its reader: one program at a time, and not while the phone reads in the background.
struct SimulatorTurn: ReaderSharing {
    let reader: SimulatorReader

    func claim(for purpose: ReaderPurpose, clock: any RuntimeClock) async -> (any ReaderClaim)? {
        do throws(LinkError) {
            try await reader.claimTurn()
            return Claim(reader)
        } catch {
            // The first frame has the same reason, and reports it.
            return nil
        }
    }

    private final class Claim: ReaderClaim {
        private let reader: SimulatorReader

        init(_ reader: SimulatorReader) { self.reader = reader }

        /// The simulator sees itself which tags were read.
        func note(_ identifiers: [[UInt8]]) {}

        deinit { reader.releaseTurn() }
    }
}
