// SPDX-License-Identifier: Apache-2.0
public import NFCRuntime
public import TagTrace

extension NFCEnvironment {
    /// The recording that acts as the reader; nil for another kind of reader.
    public var replay: RecordingReplay? { (driver as? any ReplayingDriver)?.replay }
}
