// SPDX-License-Identifier: Apache-2.0
import SystemLibrary
import Testing

@Suite(.timeLimit(.minutes(3))) struct `Work for later` {
    @Test func `is done once its pause is over, and not before`() async {
        let pause = Duration.milliseconds(30)
        let began = ContinuousClock.now
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            Later.run(after: pause) { continuation.resume() }
        }
        #expect(began.duration(to: .now) >= pause)
    }
}
