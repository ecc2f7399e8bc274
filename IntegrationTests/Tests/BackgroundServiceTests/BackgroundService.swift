// SPDX-License-Identifier: Apache-2.0
import Testing

/// Tests of the service, one after the other. Each has its own buses, desktop and service, and the system limits the number of
/// file watches of a user.
@Suite(.serialized, .enabled(if: Desk.python != nil, "dbusmock is not installed"), .timeLimit(.minutes(5)))
struct BackgroundService {}
