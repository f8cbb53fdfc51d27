//! A guest for tests that tries to leave something behind for the next call, in every place that Rust has, and says what it finds
//! there. Its input is a JSON string of words, which it follows from left to right: see `act`. The output is what it saw, a JSON
//! object with a field for each place.

use std::cell::{Cell, RefCell};
use std::collections::hash_map::{DefaultHasher, RandomState};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::hash::{BuildHasher, Hash, Hasher};
use std::io::Write as _;
use std::os::raw::{c_int, c_void};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Mutex, Once};
use std::time::{Duration, Instant, SystemTime};

#[link(wasm_import_module = "wrun_v1")]
extern "C" {
    fn input_read(ptr: *mut u8, cap: usize, off: usize) -> i32;
    fn output_write(ptr: *const u8, len: usize) -> i32;
    fn clock(ptr: *const u8, len: usize) -> i64;
}

extern "C" {
    fn close(fd: c_int) -> c_int;
    fn write(fd: c_int, from: *const u8, len: usize) -> isize;
    fn sbrk(increment: isize) -> *mut c_void;
}

#[no_mangle]
pub extern "C" fn wrun_abi_1() {}

const PAGE: usize = 65536;

// What lies outside of every call.

static mut VARIABLE: u32 = 1;
static ATOMIC: AtomicU32 = AtomicU32::new(1);
static ONCE: Once = Once::new();
static LOCK: Mutex<u32> = Mutex::new(1);
static mut CLOSURE: Option<Box<dyn Fn() -> u32>> = None;
static mut KEPT: Vec<String> = Vec::new();

thread_local! {
    static OF_THREAD: Cell<u32> = Cell::new(1);
    static MAP: RefCell<HashMap<u32, u32>> = RefCell::new(HashMap::new());
}

fn leave() {
    unsafe {
        VARIABLE += 41;
        let number = VARIABLE;
        CLOSURE = Some(Box::new(move || number));
        KEPT.extend((0..50).map(|n| format!("left {}", n)));
    }
    ATOMIC.fetch_add(41, Relaxed);
    ONCE.call_once(|| {});
    std::mem::forget(LOCK.lock()); // held for good
    OF_THREAD.with(|v| v.set(v.get() + 41));
    MAP.with(|m| m.borrow_mut().extend((0..50).map(|n| (n, n))));
    (0..5).for_each(|_| drop(RandomState::new()));
    std::env::set_var("LEFT", "behind");
    std::panic::set_hook(Box::new(|_| eprintln!("panicked at the hook that was left")));
    std::thread::sleep(Duration::from_secs(3600));
    dirty_stack();
    print!("left in a buffer;");
    unsafe { close(2) };
}

#[inline(never)]
fn dirty_stack() {
    let mut b = [0u8; 200_000];
    b.iter_mut().for_each(|p| unsafe { std::ptr::write_volatile(p, b'L') });
}

/// Returns a value that the compiler does not know.
fn opaque<T: Copy>(v: T) -> T {
    unsafe { std::ptr::read_volatile(&v) }
}

/// Depends on every one of the bytes from an address on.
fn hash(at: usize, bytes: usize) -> u32 {
    let mut h = 2166136261u32;
    for p in (at..at + bytes).step_by(4) {
        h = (h ^ unsafe { std::ptr::read_volatile(p as *const u32) }).wrapping_mul(16777619);
        h ^= h >> 15;
    }
    h
}

fn pages() -> String {
    (0..core::arch::wasm32::memory_size(0)).map(|n| format!("{:08x} ", hash(n * PAGE, PAGE))).collect()
}

fn heap() -> String {
    let v: Vec<u8> = Vec::with_capacity(1000);
    format!("{:p} {:08x} {:p}", v.as_ptr(), hash(v.as_ptr() as usize, 1000), unsafe { sbrk(0) })
}

/// Shows the state that a new HashMap gets: the keys are drawn once for each thread and counted up.
fn random_state() -> String {
    let mut h = HashMap::<u32, u32>::new().hasher().build_hasher();
    1.hash(&mut h);
    let order: HashMap<u32, u32> = (0..10).map(|n| (n, n)).collect();
    let mut fixed = DefaultHasher::new();
    1.hash(&mut fixed);
    format!("{:x} {:x} {:?}", h.finish(), fixed.finish(), order.keys().collect::<Vec<_>>())
}

fn time(began: Instant) -> String {
    std::thread::sleep(Duration::from_millis(5));
    let wall = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    format!("{:?} {:?} {:?}", wall, began.elapsed(), began)
}

fn streams() -> String {
    print!("looked;");
    format!("{:?} {}", std::io::stdout().flush(), unsafe { write(2, b"looked to stderr;".as_ptr(), 17) })
}

fn env() -> String {
    format!("{:?} {:?} {:?}", std::env::vars().collect::<Vec<_>>(), std::env::args().collect::<Vec<_>>(), std::env::current_dir())
}

fn look() -> String {
    let began = Instant::now();
    let places: [(&str, String); 14] = [
        ("pages", pages()),
        ("heap", heap()),
        ("variable", unsafe { VARIABLE }.to_string()),
        ("closure", unsafe { CLOSURE.as_ref() }.map_or(0, |f| f()).to_string()),
        ("kept", unsafe { KEPT.len() }.to_string()),
        ("atomic", ATOMIC.load(Relaxed).to_string()),
        ("once", ONCE.is_completed().to_string()),
        ("lock", LOCK.try_lock().map_or(0, |v| *v).to_string()),
        ("thread", OF_THREAD.with(|v| v.get()).to_string()),
        ("map", MAP.with(|m| m.borrow().len()).to_string()),
        ("random state", random_state()),
        ("env", env()),
        ("clock", time(began)),
        ("streams", streams()),
    ];
    let fields: Vec<_> = places.iter().map(|(name, found)| format!("{:?}:{:?}", name, found)).collect();
    format!("{{{}}}", fields.join(","))
}

/// Grows the memory by 4 MiB and says how much of that is not zero.
fn widen() -> String {
    let at = core::arch::wasm32::memory_grow(0, 64) * PAGE;
    let dirty = (at..at + 64 * PAGE).step_by(8).filter(|p| unsafe { *(*p as *const u64) } != 0).count();
    format!("{{\"at\":{},\"dirty\":{}}}", at, dirty)
}

/// Fills 8 MiB more.
fn grow() {
    let at = core::arch::wasm32::memory_grow(0, 128) * PAGE;
    unsafe { std::ptr::write_bytes(at as *mut u8, b'L', 128 * PAGE) };
}

#[inline(never)]
fn recurse(n: u32) -> u32 {
    let deeper: fn(u32) -> u32 = opaque(recurse);
    deeper(n + 1) + n
}

fn end(word: &str) -> i32 {
    match word {
        "fail" => return answer(b"\xa1\x02\xa2\x01\x0a\x02\x64left", b""),
        "status" => return 7,
        "trap" => core::arch::wasm32::unreachable(),
        "nil" => None::<u32>.expect("nothing"),
        "exit" => std::process::exit(0),
        "quit" => std::process::exit(3),
        "recurse" => recurse(1),
        "spin" => loop {
            opaque(7);
        },
        "flood" => {
            let piece = vec![b'L'; PAGE];
            while unsafe { output_write(piece.as_ptr(), PAGE) } == 0 {}
            return 0;
        }
        "hungry" => Vec::<u8>::with_capacity(1 << 30).len() as u32,
        "misuse" => unsafe { input_read(usize::MAX as *mut u8, 32, 0) as u32 },
        _ => return 1,
    };
    1
}

/// Writes a reply: its head, and a byte string with its length.
fn answer(head: &[u8], body: &[u8]) -> i32 {
    let mut reply = head.to_vec();
    match body.len() {
        0 => {}
        n @ 1..=23 => reply.push(0x40 + n as u8),
        n @ 24..=255 => reply.extend([0x58, n as u8]),
        n => reply.extend([0x59, (n >> 8) as u8, n as u8]),
    }
    reply.extend(body);
    unsafe { output_write(reply.as_ptr(), reply.len()) }
}

/// Follows the words and ends as the last one says, or with the report.
fn act(words: &str) -> i32 {
    let mut report = String::new();
    for word in words.split(' ') {
        match word {
            "leave" => leave(),
            "look" => report = look(),
            "grow" => grow(),
            "ask" => drop(unsafe { clock(b"\xa0".as_ptr(), 1) }),
            "widen" => report = widen(),
            _ => return end(word),
        }
    }
    if report.is_empty() {
        write!(report, "{{}}").unwrap();
    }
    answer(b"\xa1\x01", report.as_bytes())
}

#[no_mangle]
pub extern "C" fn wrun_invoke(input_len: usize) -> i32 {
    let mut request = vec![0; input_len];
    unsafe { input_read(request.as_mut_ptr(), input_len, 0) };
    let start = if request[10] == 0x58 { 13 } else { 12 }; // behind the tool's name, the length and the quote
    act(std::str::from_utf8(&request[start..input_len - 1]).unwrap())
}
