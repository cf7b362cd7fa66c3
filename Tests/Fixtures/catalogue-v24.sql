CREATE TABLE categories (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    display_name TEXT NOT NULL CHECK (display_name <> ''),
    name_key TEXT NOT NULL UNIQUE,
    position INTEGER NOT NULL,
    icon_resource TEXT,
    color_hex TEXT NOT NULL CHECK (length(color_hex) = 7),
    is_default INTEGER NOT NULL CHECK (is_default IN (0, 1)),
    created_at INTEGER NOT NULL
) STRICT;
CREATE TABLE photos (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    uuid TEXT NOT NULL UNIQUE,
    path TEXT NOT NULL UNIQUE CHECK (path <> ''),
    category_id INTEGER NOT NULL REFERENCES categories (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    caption TEXT,
    is_from_assets INTEGER NOT NULL CHECK (is_from_assets IN (0, 1)),
    created_at INTEGER NOT NULL,
    taken_at INTEGER,
    shown_at INTEGER NOT NULL GENERATED ALWAYS AS (coalesce(taken_at, created_at)) STORED,
    file_size INTEGER NOT NULL CHECK (file_size >= 0),
    width INTEGER NOT NULL CHECK (width >= 0),
    height INTEGER NOT NULL CHECK (height >= 0),
    is_favorite INTEGER NOT NULL CHECK (is_favorite IN (0, 1)),
    media_type TEXT NOT NULL,
    content_digest TEXT NOT NULL,
    source_digest TEXT NOT NULL UNIQUE,
    source_size INTEGER NOT NULL,
    search_text TEXT NOT NULL
, original_path TEXT, taken_offset INTEGER, date_source TEXT, sidecars TEXT, unseen_by TEXT, last_decision TEXT, camera TEXT, date_precision TEXT, source_name TEXT, kind TEXT, duration INTEGER, codecs TEXT, film_offset INTEGER, film_length INTEGER, content_identifier TEXT, film_digest TEXT, film_size INTEGER) STRICT;
CREATE TABLE trash (
    id INTEGER PRIMARY KEY,
    uuid TEXT NOT NULL,
    path TEXT NOT NULL UNIQUE,
    category_id INTEGER NOT NULL,
    name TEXT NOT NULL,
    caption TEXT,
    is_from_assets INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    taken_at INTEGER,
    file_size INTEGER NOT NULL,
    width INTEGER NOT NULL,
    height INTEGER NOT NULL,
    is_favorite INTEGER NOT NULL,
    media_type TEXT NOT NULL,
    content_digest TEXT NOT NULL,
    source_digest TEXT NOT NULL,
    source_size INTEGER NOT NULL,
    category_name TEXT NOT NULL,
    category_color TEXT NOT NULL,
    category_icon TEXT,
    deleted_at INTEGER NOT NULL
, original_path TEXT, taken_offset INTEGER, date_source TEXT, sidecars TEXT, unseen_by TEXT, last_decision TEXT, camera TEXT, category_position INTEGER, category_is_default INTEGER NOT NULL DEFAULT 0, date_precision TEXT, source_name TEXT, kind TEXT, duration INTEGER, codecs TEXT, film_offset INTEGER, film_length INTEGER, content_identifier TEXT, film_digest TEXT, film_size INTEGER) STRICT;
CREATE TABLE swipe_sessions (
    id TEXT PRIMARY KEY,
    started_at INTEGER NOT NULL,
    ended_at INTEGER
, forgotten_photos INTEGER NOT NULL DEFAULT 0, source TEXT) STRICT, WITHOUT ROWID;
CREATE TABLE settings (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE discarded_files (
    path TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;
CREATE TABLE jobs (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    method TEXT NOT NULL,
    params TEXT,
    role INTEGER NOT NULL,
    state TEXT NOT NULL,
    request TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    ended_at INTEGER,
    needs_attention INTEGER NOT NULL CHECK (needs_attention IN (0, 1)),
    progress TEXT,
    receipt TEXT,
    error TEXT,
    checkpoint BLOB,
    checkpoints INTEGER NOT NULL DEFAULT 0,
    attempts INTEGER NOT NULL DEFAULT 0,
    attempts_mark INTEGER NOT NULL DEFAULT 0
, unlisted_lines INTEGER NOT NULL DEFAULT 0, kept_bytes INTEGER) STRICT;
CREATE TABLE job_lines (
    job INTEGER NOT NULL REFERENCES jobs (number) ON DELETE CASCADE,
    number INTEGER NOT NULL CHECK (number >= 0),
    item TEXT NOT NULL,
    outcome TEXT NOT NULL,
    detail TEXT,
    PRIMARY KEY (job, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE job_outcomes (
    job INTEGER NOT NULL REFERENCES jobs (number) ON DELETE CASCADE,
    outcome TEXT NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (job, outcome)
) STRICT, WITHOUT ROWID;
CREATE TABLE photo_search_paused (id INTEGER PRIMARY KEY CHECK (id = 1)) STRICT;
CREATE TABLE category_totals (
    category_id INTEGER PRIMARY KEY REFERENCES categories (id) ON DELETE CASCADE,
    photos INTEGER NOT NULL,
    favorites INTEGER NOT NULL,
    bytes INTEGER NOT NULL
) STRICT;
CREATE TABLE "swipe_actions" (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    session_id TEXT NOT NULL REFERENCES swipe_sessions (id) ON DELETE CASCADE,
    photo_uuid TEXT NOT NULL,
    content_digest TEXT NOT NULL,
    action TEXT NOT NULL CHECK (action = 'favorite' OR action = 'trash' OR action = 'keep'),
    decided_at INTEGER NOT NULL,
    is_processed INTEGER NOT NULL DEFAULT 0 CHECK (is_processed = 0 OR is_processed = 1)
, is_indexed INTEGER NOT NULL DEFAULT 1 CHECK (is_indexed IN (0, 1)), told_uuid TEXT, source TEXT) STRICT;
CREATE TABLE unfinished_backups (
    path TEXT PRIMARY KEY,
    job TEXT,
    library_path TEXT,
    library_device INTEGER,
    library_inode INTEGER,
    library_birth INTEGER,
    device INTEGER,
    inode INTEGER,
    birth INTEGER
) STRICT, WITHOUT ROWID;
CREATE TABLE failed_sources (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    digest TEXT NOT NULL UNIQUE,
    size INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    detail TEXT,
    version TEXT NOT NULL
) STRICT;
CREATE TABLE "sealed_fields" (
    photo_uuid TEXT NOT NULL,
    field TEXT NOT NULL,
    sealed BLOB NOT NULL,
    PRIMARY KEY (photo_uuid, field)
) STRICT, WITHOUT ROWID;
CREATE TABLE sealed_fields_held (id INTEGER PRIMARY KEY CHECK (id = 1)) STRICT;
CREATE TABLE sealing_keys (
    id TEXT PRIMARY KEY,
    wrapped BLOB NOT NULL,
    key_file TEXT NOT NULL,
    is_active INTEGER NOT NULL CHECK (is_active = 0 OR is_active = 1),
    created_at INTEGER NOT NULL,
    exported_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE TABLE devices (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    user_agent TEXT,
    created_at INTEGER NOT NULL,
    last_seen_at INTEGER NOT NULL,
    token_digest TEXT NOT NULL UNIQUE
, role TEXT NOT NULL DEFAULT 'parent') STRICT, WITHOUT ROWID;
CREATE TABLE backups (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    path TEXT NOT NULL UNIQUE,
    mount TEXT NOT NULL,
    library_path TEXT NOT NULL,
    library_device INTEGER NOT NULL,
    library_inode INTEGER NOT NULL,
    library_birth INTEGER,
    made_at INTEGER NOT NULL,
    photos INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    damaged INTEGER NOT NULL,
    is_whole INTEGER NOT NULL CHECK (is_whole IN (0, 1)),
    fingerprint TEXT NOT NULL,
    verified_at INTEGER
) STRICT;
CREATE TABLE backup_schedule (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    folder TEXT NOT NULL,
    mount TEXT NOT NULL,
    every_hours INTEGER NOT NULL CHECK (every_hours > 0),
    keep INTEGER NOT NULL CHECK (keep > 0),
    key_export TEXT,
    key_sealed TEXT,
    scheduled_at INTEGER NOT NULL,
    job TEXT,
    failed_at INTEGER,
    problem TEXT
, is_zip INTEGER NOT NULL DEFAULT 1 CHECK (is_zip IN (0, 1))) STRICT;
CREATE TABLE groups (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL CHECK (name <> ''),
    created_at INTEGER NOT NULL,
    last_photo_at INTEGER
, hub_id TEXT REFERENCES group_hubs (id) ON DELETE CASCADE) STRICT, WITHOUT ROWID;
CREATE TABLE group_members (
    group_id TEXT NOT NULL REFERENCES groups (id) ON DELETE CASCADE,
    user_id TEXT NOT NULL,
    first_name TEXT NOT NULL,
    joined_at INTEGER NOT NULL,
    is_self INTEGER NOT NULL CHECK (is_self IN (0, 1)),
    PRIMARY KEY (group_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE group_photos (
    id TEXT PRIMARY KEY,
    group_id TEXT NOT NULL REFERENCES groups (id) ON DELETE CASCADE,
    sender_id TEXT NOT NULL,
    sender_name TEXT NOT NULL,
    day INTEGER NOT NULL,
    width INTEGER NOT NULL,
    height INTEGER NOT NULL,
    file_size INTEGER NOT NULL,
    has_file INTEGER NOT NULL CHECK (has_file IN (0, 1)),
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    last_used_at INTEGER NOT NULL, transfer INTEGER NOT NULL DEFAULT 0 CHECK (transfer IN (0, 1, 2)), url TEXT, utc_offset INTEGER,
    UNIQUE (group_id, sender_id, day)
) STRICT, WITHOUT ROWID;
CREATE TABLE group_time (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    time INTEGER NOT NULL,
    boot TEXT NOT NULL,
    boot_time INTEGER NOT NULL
) STRICT;
CREATE TABLE cameras (
    name TEXT PRIMARY KEY,
    photos INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE photo_days (
    day INTEGER NOT NULL,
    category_id INTEGER NOT NULL,
    photos INTEGER NOT NULL,
    favorites INTEGER NOT NULL,
    PRIMARY KEY (day, category_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE group_hubs (
    id TEXT PRIMARY KEY,
    address TEXT NOT NULL,
    token TEXT NOT NULL,
    added_at INTEGER NOT NULL,
    synced_at INTEGER,
    problem TEXT
, sealed_token BLOB) STRICT, WITHOUT ROWID;
CREATE TABLE group_departures (
    hub_id TEXT NOT NULL REFERENCES group_hubs (id) ON DELETE CASCADE,
    group_id TEXT NOT NULL,
    PRIMARY KEY (hub_id, group_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE group_tokens (
    user_id TEXT PRIMARY KEY,
    digest TEXT NOT NULL UNIQUE,
    created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE swipe_undone (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    session_id TEXT NOT NULL,
    photo_uuid TEXT NOT NULL,
    content_digest TEXT NOT NULL,
    action TEXT NOT NULL,
    decided_at INTEGER NOT NULL,
    source TEXT
) STRICT;
CREATE TABLE swipe_forgotten (
    photo_uuid TEXT NOT NULL,
    content_digest TEXT NOT NULL,
    decided_at INTEGER NOT NULL,
    session_id TEXT NOT NULL,
    action TEXT NOT NULL,
    PRIMARY KEY (photo_uuid, content_digest)
) STRICT, WITHOUT ROWID;
CREATE TABLE swipe_session_changes (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    session_id TEXT NOT NULL UNIQUE REFERENCES swipe_sessions (id) ON DELETE CASCADE
) STRICT;
CREATE TABLE swipe_machines (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    name_key TEXT NOT NULL UNIQUE,
    token_digest TEXT NOT NULL UNIQUE,
    added_at INTEGER NOT NULL,
    seen_at INTEGER
, taken INTEGER NOT NULL DEFAULT 0) STRICT, WITHOUT ROWID;
CREATE TABLE swipe_partners (
    id TEXT PRIMARY KEY,
    address TEXT NOT NULL,
    token TEXT NOT NULL,
    added_at INTEGER NOT NULL,
    synced_at INTEGER,
    problem TEXT,
    heard TEXT NOT NULL DEFAULT '',
    told TEXT NOT NULL DEFAULT ''
, taken INTEGER NOT NULL DEFAULT 0, sealed_token BLOB, joins INTEGER NOT NULL DEFAULT 1) STRICT, WITHOUT ROWID;
CREATE TABLE group_undelivered (
    photo_id TEXT PRIMARY KEY,
    group_id TEXT NOT NULL,
    group_name TEXT NOT NULL,
    hub TEXT NOT NULL,
    sent_at INTEGER NOT NULL,
    noticed_at INTEGER NOT NULL,
    reason TEXT NOT NULL,
    detail TEXT
) STRICT, WITHOUT ROWID;
CREATE TABLE swipe_session_forgotten (
    session_id TEXT NOT NULL REFERENCES swipe_sessions (id) ON DELETE CASCADE,
    photo_uuid TEXT NOT NULL,
    PRIMARY KEY (session_id, photo_uuid)
) STRICT, WITHOUT ROWID;
CREATE TABLE overwritten (
    job TEXT NOT NULL,
    number INTEGER NOT NULL,
    change TEXT NOT NULL,
    PRIMARY KEY (job, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE known_files (
    device INTEGER NOT NULL,
    inode INTEGER NOT NULL,
    size INTEGER NOT NULL,
    modified INTEGER NOT NULL,
    changed INTEGER NOT NULL,
    photo_id INTEGER NOT NULL REFERENCES photos (id) ON DELETE CASCADE,
    PRIMARY KEY (device, inode)
) STRICT, WITHOUT ROWID;
CREATE TABLE device_categories (
    device_id TEXT NOT NULL REFERENCES devices (id) ON DELETE CASCADE,
    category_id INTEGER NOT NULL REFERENCES categories (id) ON DELETE CASCADE,
    PRIMARY KEY (device_id, category_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE links (
    id TEXT PRIMARY KEY,
    token_digest TEXT NOT NULL UNIQUE,
    title TEXT,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    revoked_at INTEGER,
    gives_originals INTEGER NOT NULL CHECK (gives_originals IN (0, 1)),
    gives_details INTEGER NOT NULL CHECK (gives_details IN (0, 1)),
    password_hash TEXT,
    openings INTEGER NOT NULL DEFAULT 0,
    last_opened_at INTEGER,
    failures INTEGER NOT NULL DEFAULT 0,
    last_failure_boot TEXT,
    last_failure_time INTEGER
) STRICT, WITHOUT ROWID;
CREATE TABLE link_categories (
    link_id TEXT NOT NULL REFERENCES links (id) ON DELETE CASCADE,
    place INTEGER NOT NULL,
    category_id INTEGER NOT NULL REFERENCES categories (id) ON DELETE CASCADE,
    PRIMARY KEY (link_id, place)
) STRICT, WITHOUT ROWID;
CREATE TABLE link_photos (
    link_id TEXT NOT NULL REFERENCES links (id) ON DELETE CASCADE,
    place INTEGER NOT NULL,
    photo_uuid TEXT NOT NULL,
    PRIMARY KEY (link_id, place),
    UNIQUE (link_id, photo_uuid)
) STRICT, WITHOUT ROWID;
INSERT INTO categories (id, display_name, name_key, position, icon_resource, color_hex, is_default, created_at) VALUES (1, 'Family', 'family', 0, NULL, '#E91E63', 1, 1795253130206);
INSERT INTO categories (id, display_name, name_key, position, icon_resource, color_hex, is_default, created_at) VALUES (2, 'Cars', 'cars', 1, NULL, '#F44336', 1, 1795253130206);
INSERT INTO categories (id, display_name, name_key, position, icon_resource, color_hex, is_default, created_at) VALUES (3, 'Games', 'games', 2, NULL, '#9C27B0', 1, 1795253130207);
INSERT INTO categories (id, display_name, name_key, position, icon_resource, color_hex, is_default, created_at) VALUES (4, 'Sports', 'sports', 3, NULL, '#4CAF50', 1, 1795253130207);
INSERT INTO categories (id, display_name, name_key, position, icon_resource, color_hex, is_default, created_at) VALUES (5, 'Été 2009', 'été 2009', 4, NULL, '#00AA11', 0, 1795253131662);
INSERT INTO categories (id, display_name, name_key, position, icon_resource, color_hex, is_default, created_at) VALUES (6, 'Großeltern', 'grosseltern', 5, NULL, '#2196F3', 0, 1795253131687);
INSERT INTO photos (id, uuid, path, category_id, name, caption, is_from_assets, created_at, taken_at, file_size, width, height, is_favorite, media_type, content_digest, source_digest, source_size, search_text, original_path, taken_offset, date_source, sidecars, unseen_by, last_decision, camera, date_precision, source_name, kind, duration, codecs, film_offset, film_length, content_identifier, film_digest, film_size) VALUES (1, '3c3129fb-4958-4456-9909-db5f726404e2', 'photos/IMG_20240601_110101_bdfbe532.jpg', 5, 'sample-0001', 'it''s ÉTÉ', 0, 1795253131779, 1717239661250, 2161, 64, 48, 0, 'image/jpeg', 'a54ca8aa5c1f59199c23fa927ef508f672a3d8818817f3dfc361f88c2a7cdff6', 'a54ca8aa5c1f59199c23fa927ef508f672a3d8818817f3dfc361f88c2a7cdff6', 2161, 'sample-0001
it''s ete', 'photos/IMG_20240601_110101_bdfbe532.jpg', NULL, NULL, NULL, NULL, 'keep', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO photos (id, uuid, path, category_id, name, caption, is_from_assets, created_at, taken_at, file_size, width, height, is_favorite, media_type, content_digest, source_digest, source_size, search_text, original_path, taken_offset, date_source, sidecars, unseen_by, last_decision, camera, date_precision, source_name, kind, duration, codecs, film_offset, film_length, content_identifier, film_digest, film_size) VALUES (2, '5ba75538-76ae-4cda-b607-97c12f1d5f3c', 'photos/IMG_20240601_130303_9a633f78.jpg', 5, 'sample-0003', NULL, 0, 1795253131780, 1717246983250, 2269, 64, 48, 1, 'image/jpeg', '5f94329d24faaa53c52ee27577d3945920642658aee860d23eb45e2f8478384f', '5f94329d24faaa53c52ee27577d3945920642658aee860d23eb45e2f8478384f', 2269, 'sample-0003
', 'photos/IMG_20240601_130303_9a633f78.jpg', NULL, NULL, NULL, NULL, 'keep', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO photos (id, uuid, path, category_id, name, caption, is_from_assets, created_at, taken_at, file_size, width, height, is_favorite, media_type, content_digest, source_digest, source_size, search_text, original_path, taken_offset, date_source, sidecars, unseen_by, last_decision, camera, date_precision, source_name, kind, duration, codecs, film_offset, film_length, content_identifier, film_digest, film_size) VALUES (3, '83769d48-0093-4bc8-a245-1eaa15d8a419', 'photos/IMG_20240601_120202_51677daf.jpg', 5, 'sample-0002', 'Strand & Möwen, 100 % "blau"', 0, 1795253131780, 1717243322250, 2145, 64, 48, 1, 'image/jpeg', 'c8429ee30a330ca2ce5149d5a1383f0e535ff406414988eebd24cbb4936e4eb1', 'c8429ee30a330ca2ce5149d5a1383f0e535ff406414988eebd24cbb4936e4eb1', 2145, 'sample-0002
strand & mowen, 100 % "blau"', 'photos/IMG_20240601_120202_51677daf.jpg', NULL, NULL, NULL, NULL, 'trash', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO photos (id, uuid, path, category_id, name, caption, is_from_assets, created_at, taken_at, file_size, width, height, is_favorite, media_type, content_digest, source_digest, source_size, search_text, original_path, taken_offset, date_source, sidecars, unseen_by, last_decision, camera, date_precision, source_name, kind, duration, codecs, film_offset, film_length, content_identifier, film_digest, film_size) VALUES (5, '31e32268-e7f3-4d28-a516-a0e2526495bc', 'photos/IMG_20240601_140404_7f46743c.jpg', 5, 'sample-0004', NULL, 0, 1795253131814, 1717250644250, 2162, 64, 48, 0, 'image/jpeg', 'd55787bf3cf23fde5b81114b2802ed4d57f7b6181d9c8ec27321cc6c4769b7a2', 'd55787bf3cf23fde5b81114b2802ed4d57f7b6181d9c8ec27321cc6c4769b7a2', 2162, 'sample-0004
', 'photos/IMG_20240601_140404_7f46743c.jpg', NULL, NULL, NULL, NULL, 'keep', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO photos (id, uuid, path, category_id, name, caption, is_from_assets, created_at, taken_at, file_size, width, height, is_favorite, media_type, content_digest, source_digest, source_size, search_text, original_path, taken_offset, date_source, sidecars, unseen_by, last_decision, camera, date_precision, source_name, kind, duration, codecs, film_offset, film_length, content_identifier, film_digest, film_size) VALUES (6, 'bd015cb6-9d20-4c15-97bd-e64a39c967a7', 'photos/IMG_20240601_150505_d50099ed.jpg', 6, 'sample-0005', NULL, 0, 1795253131862, 1717200000000, 2184, 64, 48, 0, 'image/jpeg', 'c281c14005a8af6c03739695e0a833090a6210caafa6128c2e9c5c06d0b8863e', 'c281c14005a8af6c03739695e0a833090a6210caafa6128c2e9c5c06d0b8863e', 2184, 'sample-0005
', 'photos/IMG_20240601_150505_d50099ed.jpg', 120, 'person', NULL, NULL, 'keep', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO photos (id, uuid, path, category_id, name, caption, is_from_assets, created_at, taken_at, file_size, width, height, is_favorite, media_type, content_digest, source_digest, source_size, search_text, original_path, taken_offset, date_source, sidecars, unseen_by, last_decision, camera, date_precision, source_name, kind, duration, codecs, film_offset, film_length, content_identifier, film_digest, film_size) VALUES (7, '8cf7908f-ce02-4b6c-a112-ee8127a051d1', 'photos/IMG_20240601_100000_6cd81e3a.jpg', 6, 'sample-0000', NULL, 0, 1795253131863, 1717236000250, 2284, 64, 48, 0, 'image/jpeg', '677d0425a2baef726513e761683e4da35e230df0202f8062c18fd1363275617a', '677d0425a2baef726513e761683e4da35e230df0202f8062c18fd1363275617a', 2284, 'sample-0000
', 'photos/IMG_20240601_100000_6cd81e3a.jpg', NULL, NULL, NULL, NULL, 'keep', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO trash (id, uuid, path, category_id, name, caption, is_from_assets, created_at, taken_at, file_size, width, height, is_favorite, media_type, content_digest, source_digest, source_size, category_name, category_color, category_icon, deleted_at, original_path, taken_offset, date_source, sidecars, unseen_by, last_decision, camera, category_position, category_is_default, date_precision, source_name, kind, duration, codecs, film_offset, film_length, content_identifier, film_digest, film_size) VALUES (4, '2d956b47-cff6-4716-bfc3-975191707f17', 'photos/IMG_20240601_160606_ac1e6ab0.jpg', 5, 'sample-0006', NULL, 0, 1795253131801, 1717257966250, 2296, 64, 48, 0, 'image/jpeg', 'e5bb94ba62cd77fb7e463a440bea045bdcd3586a0e1cb4241825639ba50bd2ae', 'e5bb94ba62cd77fb7e463a440bea045bdcd3586a0e1cb4241825639ba50bd2ae', 2296, 'Été 2009', '#00AA11', NULL, 1795253147400, 'photos/IMG_20240601_160606_ac1e6ab0.jpg', NULL, NULL, NULL, NULL, NULL, NULL, 4, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO swipe_sessions (id, started_at, ended_at, forgotten_photos, source) VALUES ('11287b1c-d0de-4a52-a9ad-835b12b6e69a', 1795485719860, 1795485737802, 0, NULL);
INSERT INTO swipe_sessions (id, started_at, ended_at, forgotten_photos, source) VALUES ('14bb41c1-18bf-448b-ba6d-d6a49da16328', 1795362443507, NULL, 0, NULL);
INSERT INTO swipe_sessions (id, started_at, ended_at, forgotten_photos, source) VALUES ('783d8909-f5c5-44f4-b210-38317d3e397a', 1795362443168, 1795362443461, 0, NULL);
INSERT INTO swipe_sessions (id, started_at, ended_at, forgotten_photos, source) VALUES ('8b7d5c3f-9106-49dc-abef-48a063496e86', 1795485757101, 1795485757135, 0, NULL);
INSERT INTO swipe_sessions (id, started_at, ended_at, forgotten_photos, source) VALUES ('8d723a1a-421a-4c35-9efd-08ae7cb5749f', 1795457991723, 1795457991794, 0, NULL);
INSERT INTO swipe_sessions (id, started_at, ended_at, forgotten_photos, source) VALUES ('c345e1c1-26e7-4516-929e-6fa9f20e2938', 1795253147424, 1795253147485, 0, NULL);
INSERT INTO swipe_sessions (id, started_at, ended_at, forgotten_photos, source) VALUES ('e47885a8-cfb1-40ca-9d73-7cb178a1d524', 1795571186253, 1795571186322, 0, 'ffe13089-0731-4415-942c-79675f46fa45');
INSERT INTO settings (key, value) VALUES ('clockReading', '272b62a4-49e9-4f06-baaf-49c130ae76af 1796040503805 1309260 107710110 0');
INSERT INTO settings (key, value) VALUES ('defaultCategoriesInitialized', 'true');
INSERT INTO settings (key, value) VALUES ('lastSyncDate', '1795571187127');
INSERT INTO jobs (number, id, method, params, role, state, request, started_at, ended_at, needs_attention, progress, receipt, error, checkpoint, checkpoints, attempts, attempts_mark, unlisted_lines, kept_bytes) VALUES (3, 'create-46879b', 'backup.create', '{"path":"/home/family/backup.zip"}', 1, 'paused', 'pause', 1795314755288, NULL, 0, '{"bytesDone":0,"rate":0,"itemsDone":0,"phase":"starting"}', NULL, NULL, NULL, 0, 0, 0, 0, NULL);
INSERT INTO jobs (number, id, method, params, role, state, request, started_at, ended_at, needs_attention, progress, receipt, error, checkpoint, checkpoints, attempts, attempts_mark, unlisted_lines, kept_bytes) VALUES (4, 'import-9b91e5', 'library.import', NULL, 1, 'finished', 'run', 1795350970937, 1795350972505, 1, '{"bytesDone":9056,"rate":5797.552836430863,"itemsTotal":3,"bytesTotal":9056,"phase":"checking","itemsDone":3,"secondsLeft":0}', '{"duplicates":0,"ending":"completeWithProblems","categoryId":1,"completed":0,"isDryRun":true,"imported":2,"notDone":0,"files":3,"problems":1}', NULL, NULL, 1, 0, 0, 0, 1004);
INSERT INTO jobs (number, id, method, params, role, state, request, started_at, ended_at, needs_attention, progress, receipt, error, checkpoint, checkpoints, attempts, attempts_mark, unlisted_lines, kept_bytes) VALUES (5, 'import-1f8b46', 'library.import', NULL, 1, 'finished', 'run', 1795350972518, 1795350972522, 0, '{"phase":"checking","secondsLeft":0,"bytesTotal":1086,"itemsDone":1,"bytesDone":1086,"itemsTotal":1,"rate":535759.2142198192}', '{"ending":"complete","imported":1,"categoryId":1,"problems":0,"isDryRun":true,"duplicates":0,"notDone":0,"completed":0,"files":1}', NULL, NULL, 1, 0, 0, 0, 716);
INSERT INTO jobs (number, id, method, params, role, state, request, started_at, ended_at, needs_attention, progress, receipt, error, checkpoint, checkpoints, attempts, attempts_mark, unlisted_lines, kept_bytes) VALUES (6, 'sync-99f0a1', 'swipe.sync', NULL, 1, 'finished', 'run', 1795485737831, 1795485737835, 0, '{"phase":"starting","itemsDone":0,"bytesDone":0,"rate":0}', '{"sent":0,"ending":"complete","machines":1,"undone":0,"failed":0,"fetched":0}', NULL, NULL, 0, 0, 0, 0, 577);
INSERT INTO jobs (number, id, method, params, role, state, request, started_at, ended_at, needs_attention, progress, receipt, error, checkpoint, checkpoints, attempts, attempts_mark, unlisted_lines, kept_bytes) VALUES (7, 'sync-58ca81', 'swipe.sync', NULL, 1, 'finished', 'run', 1795485757145, 1795485757148, 0, '{"rate":0,"phase":"starting","itemsDone":0,"bytesDone":0}', '{"ending":"complete","fetched":0,"failed":0,"undone":0,"machines":1,"sent":0}', NULL, NULL, 0, 0, 0, 0, 577);
INSERT INTO jobs (number, id, method, params, role, state, request, started_at, ended_at, needs_attention, progress, receipt, error, checkpoint, checkpoints, attempts, attempts_mark, unlisted_lines, kept_bytes) VALUES (8, 'sync-d3966f', 'swipe.sync', NULL, 1, 'finished', 'run', 1795571186369, 1795571187129, 1, '{"phase":"starting","rate":0,"itemsDone":0,"bytesDone":0}', '{"fetched":0,"failed":1,"undone":0,"sent":0,"machines":2,"ending":"completeWithProblems"}', NULL, NULL, 0, 0, 0, 0, 741);
INSERT INTO job_lines (job, number, item, outcome, detail) VALUES (4, 0, '/home/family/pictures/c/broken.jpg', 'unsupported', 'This file is not a photo SmilePile imports (it is empty). Convert it to JPEG, PNG, WebP, GIF, BMP, TIFF, HEIC or AVIF first.');
INSERT INTO job_lines (job, number, item, outcome, detail) VALUES (4, 1, '/home/family/pictures/c/dance.gif', 'imported', 'would be imported, 48 x 22');
INSERT INTO job_lines (job, number, item, outcome, detail) VALUES (4, 2, '/home/family/pictures/c/card.bmp', 'imported', 'would be imported, 127 x 64');
INSERT INTO job_lines (job, number, item, outcome, detail) VALUES (5, 0, '/home/family/pictures/c/card.bmp', 'imported', 'would be imported, 127 x 64');
INSERT INTO job_lines (job, number, item, outcome, detail) VALUES (8, 0, 'http://127.0.0.1:18471', 'failed', 'The other machine does not answer. Check that it is switched on, that its web server runs, and the port.');
INSERT INTO job_outcomes (job, outcome, count) VALUES (4, 'imported', 2);
INSERT INTO job_outcomes (job, outcome, count) VALUES (4, 'unsupported', 1);
INSERT INTO job_outcomes (job, outcome, count) VALUES (5, 'imported', 1);
INSERT INTO job_outcomes (job, outcome, count) VALUES (8, 'failed', 1);
INSERT INTO category_totals (category_id, photos, favorites, bytes) VALUES (1, 0, 0, 0);
INSERT INTO category_totals (category_id, photos, favorites, bytes) VALUES (2, 0, 0, 0);
INSERT INTO category_totals (category_id, photos, favorites, bytes) VALUES (3, 0, 0, 0);
INSERT INTO category_totals (category_id, photos, favorites, bytes) VALUES (4, 0, 0, 0);
INSERT INTO category_totals (category_id, photos, favorites, bytes) VALUES (5, 4, 2, 8737);
INSERT INTO category_totals (category_id, photos, favorites, bytes) VALUES (6, 2, 0, 4468);
INSERT INTO swipe_actions (id, session_id, photo_uuid, content_digest, action, decided_at, is_processed, is_indexed, told_uuid, source) VALUES (1, 'c345e1c1-26e7-4516-929e-6fa9f20e2938', '3c3129fb-4958-4456-9909-db5f726404e2', 'a54ca8aa5c1f59199c23fa927ef508f672a3d8818817f3dfc361f88c2a7cdff6', 'favorite', 1795253147451, 0, 1, NULL, NULL);
INSERT INTO swipe_actions (id, session_id, photo_uuid, content_digest, action, decided_at, is_processed, is_indexed, told_uuid, source) VALUES (2, 'c345e1c1-26e7-4516-929e-6fa9f20e2938', '31e32268-e7f3-4d28-a516-a0e2526495bc', 'd55787bf3cf23fde5b81114b2802ed4d57f7b6181d9c8ec27321cc6c4769b7a2', 'keep', 1795253147472, 0, 1, NULL, NULL);
INSERT INTO swipe_actions (id, session_id, photo_uuid, content_digest, action, decided_at, is_processed, is_indexed, told_uuid, source) VALUES (3, '783d8909-f5c5-44f4-b210-38317d3e397a', '83769d48-0093-4bc8-a245-1eaa15d8a419', 'c8429ee30a330ca2ce5149d5a1383f0e535ff406414988eebd24cbb4936e4eb1', 'trash', 1795362443374, 1, 1, NULL, NULL);
INSERT INTO swipe_actions (id, session_id, photo_uuid, content_digest, action, decided_at, is_processed, is_indexed, told_uuid, source) VALUES (4, '783d8909-f5c5-44f4-b210-38317d3e397a', '83769d48-0093-4bc8-a245-1eaa15d8a419', 'c8429ee30a330ca2ce5149d5a1383f0e535ff406414988eebd24cbb4936e4eb1', 'keep', 1795362443413, 1, 1, NULL, NULL);
INSERT INTO swipe_actions (id, session_id, photo_uuid, content_digest, action, decided_at, is_processed, is_indexed, told_uuid, source) VALUES (6, '14bb41c1-18bf-448b-ba6d-d6a49da16328', '83769d48-0093-4bc8-a245-1eaa15d8a419', 'c8429ee30a330ca2ce5149d5a1383f0e535ff406414988eebd24cbb4936e4eb1', 'trash', 1795362443523, 0, 1, NULL, NULL);
INSERT INTO swipe_actions (id, session_id, photo_uuid, content_digest, action, decided_at, is_processed, is_indexed, told_uuid, source) VALUES (7, '14bb41c1-18bf-448b-ba6d-d6a49da16328', 'bd015cb6-9d20-4c15-97bd-e64a39c967a7', 'c281c14005a8af6c03739695e0a833090a6210caafa6128c2e9c5c06d0b8863e', 'keep', 1795362443539, 0, 1, NULL, NULL);
INSERT INTO swipe_actions (id, session_id, photo_uuid, content_digest, action, decided_at, is_processed, is_indexed, told_uuid, source) VALUES (8, '11287b1c-d0de-4a52-a9ad-835b12b6e69a', '3c3129fb-4958-4456-9909-db5f726404e2', 'a54ca8aa5c1f59199c23fa927ef508f672a3d8818817f3dfc361f88c2a7cdff6', 'keep', 1795485737768, 0, 1, NULL, NULL);
INSERT INTO swipe_actions (id, session_id, photo_uuid, content_digest, action, decided_at, is_processed, is_indexed, told_uuid, source) VALUES (9, '11287b1c-d0de-4a52-a9ad-835b12b6e69a', '5ba75538-76ae-4cda-b607-97c12f1d5f3c', '5f94329d24faaa53c52ee27577d3945920642658aee860d23eb45e2f8478384f', 'trash', 1795485737777, 0, 1, NULL, NULL);
INSERT INTO swipe_actions (id, session_id, photo_uuid, content_digest, action, decided_at, is_processed, is_indexed, told_uuid, source) VALUES (10, '11287b1c-d0de-4a52-a9ad-835b12b6e69a', '8cf7908f-ce02-4b6c-a112-ee8127a051d1', '677d0425a2baef726513e761683e4da35e230df0202f8062c18fd1363275617a', 'keep', 1795485737793, 0, 1, NULL, NULL);
INSERT INTO swipe_actions (id, session_id, photo_uuid, content_digest, action, decided_at, is_processed, is_indexed, told_uuid, source) VALUES (12, '8b7d5c3f-9106-49dc-abef-48a063496e86', '31e32268-e7f3-4d28-a516-a0e2526495bc', 'd55787bf3cf23fde5b81114b2802ed4d57f7b6181d9c8ec27321cc6c4769b7a2', 'keep', 1795485757127, 0, 1, NULL, NULL);
INSERT INTO swipe_actions (id, session_id, photo_uuid, content_digest, action, decided_at, is_processed, is_indexed, told_uuid, source) VALUES (13, 'e47885a8-cfb1-40ca-9d73-7cb178a1d524', '5ba75538-76ae-4cda-b607-97c12f1d5f3c', '5f94329d24faaa53c52ee27577d3945920642658aee860d23eb45e2f8478384f', 'keep', 1795571186269, 0, 1, '5ba75538-76ae-4cda-b607-97c12f1d5f3c', 'ffe13089-0731-4415-942c-79675f46fa45');
INSERT INTO sealed_fields (photo_uuid, field, sealed) VALUES ('5ba75538-76ae-4cda-b607-97c12f1d5f3c', 'notes', X'01980635ECF138B4AC1B4CCBE6589CB566007B59E7B6D6A28D95DAF0C1B7C029A48941944594C19B4C3905714F0622CAC52B3AF20D0585E93584DFCEE3F270');
INSERT INTO sealed_fields (photo_uuid, field, sealed) VALUES ('5ba75538-76ae-4cda-b607-97c12f1d5f3c', 'tags', X'01980635ECF138B4AC1B4CCBE6589CB566A88471571855861C37C9C6EFBC5930B8850AAB914299EA944FEE5FF85FDD06CF5E12686EF0C8A6E396C9FE11E59F25506E53');
INSERT INTO sealing_keys (id, wrapped, key_file, is_active, created_at, exported_at) VALUES ('980635ecf138b4ac1b4ccbe6589cb566', X'01BD83CDBEA5963A277006DAE741C4ED98900BB617171B315E9F7D7A8D89AACBACEA86C6F71915A74A24FEC848C344BB084779EEB8274A5A1DF4725EF9BEEC9D988E89E8A3078BF620', '51701f5d3f794f13b6e3971a55c928c7', 1, 1795375696512, NULL);
INSERT INTO devices (id, name, user_agent, created_at, last_seen_at, token_digest, role) VALUES ('92dc641d-b249-46b8-a4a6-b29a7c0257df', 'Kitchen', NULL, 1795443171378, 1795443171378, '85a352f0a155ccc8536a3381aad7fbddf3ff5af3019f467f17e387724255716b', 'child');
INSERT INTO backup_schedule (id, folder, mount, every_hours, keep, key_export, key_sealed, scheduled_at, job, failed_at, problem, is_zip) VALUES (1, '/media/stick', '/', 168, 4, NULL, NULL, 1795443171345, NULL, NULL, '/media/stick is not there.', 1);
INSERT INTO groups (id, name, created_at, last_photo_at, hub_id) VALUES ('1c34640c-8123-480f-93df-51503e41d114', 'Street', 1795571186217, NULL, '950c7e3d-5897-4591-8956-e487a92b9cc3');
INSERT INTO groups (id, name, created_at, last_photo_at, hub_id) VALUES ('cafec2cd-46a4-4c87-808b-88dfed468cc3', 'Cousins é', 1795443171322, NULL, NULL);
INSERT INTO groups (id, name, created_at, last_photo_at, hub_id) VALUES ('e772988d-f80d-4622-a763-62049b24fcc8', 'Neighbours', 1795443171330, NULL, NULL);
INSERT INTO group_members (group_id, user_id, first_name, joined_at, is_self) VALUES ('1c34640c-8123-480f-93df-51503e41d114', '07c25d71-ee65-48d8-b6e7-af7f791c9a31', 'Ada', 1795571186217, 1);
INSERT INTO group_members (group_id, user_id, first_name, joined_at, is_self) VALUES ('1c34640c-8123-480f-93df-51503e41d114', '6ec94dcb-4f53-4a78-95f5-3c6a3b27a8f6', 'Dora', 1795571186217, 0);
INSERT INTO group_members (group_id, user_id, first_name, joined_at, is_self) VALUES ('cafec2cd-46a4-4c87-808b-88dfed468cc3', '34a56d46-a2d8-4b42-91d0-d24817318572', 'Ben', 1795457991663, 0);
INSERT INTO group_members (group_id, user_id, first_name, joined_at, is_self) VALUES ('cafec2cd-46a4-4c87-808b-88dfed468cc3', '6ec94dcb-4f53-4a78-95f5-3c6a3b27a8f6', 'Ada', 1795443171322, 1);
INSERT INTO group_members (group_id, user_id, first_name, joined_at, is_self) VALUES ('e772988d-f80d-4622-a763-62049b24fcc8', '6ec94dcb-4f53-4a78-95f5-3c6a3b27a8f6', 'Aunt Ada', 1795443171330, 1);
INSERT INTO photo_days (day, category_id, photos, favorites) VALUES (19875, 5, 4, 2);
INSERT INTO photo_days (day, category_id, photos, favorites) VALUES (19875, 6, 2, 0);
INSERT INTO group_hubs (id, address, token, added_at, synced_at, problem, sealed_token) VALUES ('950c7e3d-5897-4591-8956-e487a92b9cc3', 'http://127.0.0.1:18475', 'O8BTzRKsvNe0XijmyjQfZJtYo8PrBvaMNavU37v9ptI', 1795571186214, 1795571186221, 'The other machine does not answer. Check that it is switched on, that its web server runs, and the port.', NULL);
INSERT INTO group_hubs (id, address, token, added_at, synced_at, problem, sealed_token) VALUES ('afa8d368-07db-4b6f-a6b7-9ec8ecb7184f', 'http://127.0.0.1:18468', 'Q8kwEXuM4gf2bGhD82jyHUgq_0G4RZh-7b3bsmgmpyI', 1795457991683, 1795457991687, 'The other machine does not answer. Check that it is switched on, that its web server runs, and the port.', NULL);
INSERT INTO group_tokens (user_id, digest, created_at) VALUES ('34a56d46-a2d8-4b42-91d0-d24817318572', '03abde5c8d8a5229caee11ee328dc2ce3c1b700c3a87d2921232c576973ff469', 1795457991663);
INSERT INTO swipe_undone (id, session_id, photo_uuid, content_digest, action, decided_at, source) VALUES (1, '8b7d5c3f-9106-49dc-abef-48a063496e86', '31e32268-e7f3-4d28-a516-a0e2526495bc', 'd55787bf3cf23fde5b81114b2802ed4d57f7b6181d9c8ec27321cc6c4769b7a2', 'trash', 1795485757110, NULL);
INSERT INTO swipe_undone (id, session_id, photo_uuid, content_digest, action, decided_at, source) VALUES (3, 'e47885a8-cfb1-40ca-9d73-7cb178a1d524', '83769d48-0093-4bc8-a245-1eaa15d8a419', 'c8429ee30a330ca2ce5149d5a1383f0e535ff406414988eebd24cbb4936e4eb1', 'favorite', 1795571186282, 'ffe13089-0731-4415-942c-79675f46fa45');
INSERT INTO swipe_session_changes (number, session_id) VALUES (1, 'c345e1c1-26e7-4516-929e-6fa9f20e2938');
INSERT INTO swipe_session_changes (number, session_id) VALUES (2, '783d8909-f5c5-44f4-b210-38317d3e397a');
INSERT INTO swipe_session_changes (number, session_id) VALUES (3, '14bb41c1-18bf-448b-ba6d-d6a49da16328');
INSERT INTO swipe_session_changes (number, session_id) VALUES (4, '8d723a1a-421a-4c35-9efd-08ae7cb5749f');
INSERT INTO swipe_session_changes (number, session_id) VALUES (6, '11287b1c-d0de-4a52-a9ad-835b12b6e69a');
INSERT INTO swipe_session_changes (number, session_id) VALUES (8, '8b7d5c3f-9106-49dc-abef-48a063496e86');
INSERT INTO swipe_session_changes (number, session_id) VALUES (9, 'e47885a8-cfb1-40ca-9d73-7cb178a1d524');
INSERT INTO swipe_machines (id, name, name_key, token_digest, added_at, seen_at, taken) VALUES ('87175034-2368-46c4-b275-129cc3ab04a6', 'Laptop', 'laptop', 'b4b26b686db690365c4daacb2a59c96f944781126601a2963036f3c9903bae0f', 1795485719840, NULL, 0);
INSERT INTO swipe_partners (id, address, token, added_at, synced_at, problem, heard, told, taken, sealed_token, joins) VALUES ('2d450043-183d-4df5-a736-40682d14dea7', 'http://127.0.0.1:18471', '4D9aQLfzFPdaN2MGw4RG3fcUfDQq4kZx0dCpBqoEhTU', 1795485737816, 1795485757147, 'The other machine does not answer. Check that it is switched on, that its web server runs, and the port.', '6.10.1', '8.12.1', 0, NULL, 1);
INSERT INTO swipe_partners (id, address, token, added_at, synced_at, problem, heard, told, taken, sealed_token, joins) VALUES ('ffe13089-0731-4415-942c-79675f46fa45', 'http://127.0.0.1:18475', 'H9sK4y2ZWU2BKBzJBqK9fY8K1mozH3GbvKyTg5tpr2c', 1795571186340, 1795571187127, 'The other machine does not answer. Check that it is switched on, that its web server runs, and the port.', '10.13.2', '9.13.3', 3, NULL, 1);
INSERT INTO device_categories (device_id, category_id) VALUES ('92dc641d-b249-46b8-a4a6-b29a7c0257df', 1);
INSERT INTO links (id, token_digest, title, created_at, expires_at, revoked_at, gives_originals, gives_details, password_hash, openings, last_opened_at, failures, last_failure_boot, last_failure_time) VALUES ('7190b875-58b7-4af5-a4f7-60e2cf063832', 'a499e65fdf3994f82b96d475f2aed3d66120c85d2440d9bdad27a388f9d60b0f', 'For Grandma', 1796040504282, 1798632504282, NULL, 0, 0, NULL, 0, NULL, 0, NULL, NULL);
INSERT INTO link_categories (link_id, place, category_id) VALUES ('7190b875-58b7-4af5-a4f7-60e2cf063832', 0, 1);
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence (name, seq) VALUES ('categories', 6);
INSERT INTO sqlite_sequence (name, seq) VALUES ('jobs', 8);
INSERT INTO sqlite_sequence (name, seq) VALUES ('photos', 7);
INSERT INTO sqlite_sequence (name, seq) VALUES ('swipe_actions', 13);
INSERT INTO sqlite_sequence (name, seq) VALUES ('swipe_session_changes', 9);
INSERT INTO sqlite_sequence (name, seq) VALUES ('swipe_undone', 3);
CREATE VIEW photo_search_source AS
    SELECT ((32767 - ((max(-8796093022208, min(8796093022207, p.shown_at)) + 8796093022208) >> 29)) << 48 | (p.id & 281474976710655)) AS place, p.search_text || char(10, 10, 768 + (p.category_id >> 6 & 63), 768 + (p.category_id & 63)) || iif(p.is_favorite, 'FFF', '') AS text FROM photos AS p;
CREATE VIRTUAL TABLE photo_search USING fts5 (
    text, tokenize = 'trigram case_sensitive 1', detail = none, columnsize = 0,
    content = 'photo_search_source', content_rowid = 'place');
INSERT INTO photo_search (photo_search) VALUES ('rebuild');
CREATE VIRTUAL TABLE photo_search_terms USING fts5vocab (photo_search, row);
CREATE INDEX photos_by_date ON photos (shown_at DESC, id DESC);
CREATE INDEX photos_by_category ON photos (category_id, shown_at DESC, id DESC);
CREATE INDEX photos_favorite ON photos (shown_at DESC, id DESC) WHERE is_favorite = 1;
CREATE INDEX photos_by_content ON photos (content_digest);
CREATE INDEX photos_by_source_size ON photos (source_size);
CREATE INDEX trash_by_date ON trash (deleted_at DESC, id DESC);
CREATE INDEX photos_favorite_by_category ON photos (category_id, shown_at DESC, id DESC) WHERE is_favorite = 1;
CREATE INDEX photos_by_id ON photos (id, shown_at, category_id, is_favorite);
CREATE INDEX photos_by_place ON photos (
    ((32767 - ((max(-8796093022208, min(8796093022207, shown_at)) + 8796093022208) >> 29)) << 48 | (id & 281474976710655)), shown_at, category_id, is_favorite, search_text);
CREATE INDEX jobs_by_end ON jobs (ended_at, kept_bytes);
CREATE INDEX failed_sources_by_size ON failed_sources (size);
CREATE INDEX photos_without_original ON photos (id) WHERE original_path IS NULL;
CREATE INDEX trash_by_uuid ON trash (uuid);
CREATE UNIQUE INDEX sealing_keys_active ON sealing_keys (is_active) WHERE is_active = 1;
CREATE INDEX swipe_actions_by_session ON swipe_actions (session_id, id, photo_uuid);
CREATE INDEX photos_by_decision ON photos (last_decision, shown_at DESC, id DESC);
CREATE INDEX photos_by_category_and_decision ON photos (category_id, last_decision, shown_at DESC, id DESC);
CREATE INDEX swipe_actions_not_indexed ON swipe_actions (id) WHERE is_indexed = 0;
CREATE UNIQUE INDEX group_members_self ON group_members (group_id) WHERE is_self = 1;
CREATE INDEX photos_by_camera ON photos (camera, shown_at DESC, id DESC);
CREATE INDEX photos_by_category_and_camera ON photos (category_id, camera, shown_at DESC, id DESC);
CREATE INDEX photos_favorite_by_camera ON photos (camera, shown_at DESC, id DESC, category_id, is_favorite)
    WHERE is_favorite = 1;
CREATE INDEX swipe_actions_by_time ON swipe_actions (decided_at, session_id) WHERE is_indexed = 1;
CREATE UNIQUE INDEX swipe_undone_by_photo
    ON swipe_undone (photo_uuid, decided_at, session_id, content_digest, action);
CREATE INDEX swipe_actions_pending ON swipe_actions (decided_at, id) WHERE is_processed = 0;
CREATE INDEX known_files_by_photo ON known_files (photo_id);
CREATE INDEX swipe_actions_by_photo ON swipe_actions (photo_uuid, decided_at, id) WHERE is_indexed = 1;
CREATE INDEX photos_films ON photos (shown_at DESC, id DESC, category_id, is_favorite) WHERE kind = 'film';
CREATE INDEX device_categories_by_category ON device_categories (category_id);
CREATE INDEX link_categories_by_category ON link_categories (category_id);
CREATE INDEX photos_content_identifiers ON photos (content_identifier) WHERE content_identifier IS NOT NULL;
CREATE INDEX photos_film_digests ON photos (film_digest) WHERE film_digest IS NOT NULL;
CREATE INDEX photos_film_sizes ON photos (film_size) WHERE film_size IS NOT NULL;
CREATE TRIGGER category_totals_begin AFTER INSERT ON categories BEGIN
    INSERT INTO category_totals (category_id, photos, favorites, bytes) VALUES (new.id, 0, 0, 0);
END;
CREATE TRIGGER category_totals_insert AFTER INSERT ON photos BEGIN
    UPDATE category_totals SET photos = photos + 1, favorites = favorites + new.is_favorite,
    bytes = bytes + new.file_size WHERE category_id = new.category_id;
END;
CREATE TRIGGER category_totals_delete AFTER DELETE ON photos BEGIN
    UPDATE category_totals SET photos = photos - 1, favorites = favorites - old.is_favorite,
    bytes = bytes - old.file_size WHERE category_id = old.category_id;
END;
CREATE TRIGGER category_totals_update AFTER UPDATE OF category_id, is_favorite, file_size ON photos
WHEN old.category_id <> new.category_id OR old.is_favorite <> new.is_favorite OR old.file_size <> new.file_size
BEGIN
    UPDATE category_totals SET photos = photos - 1, favorites = favorites - old.is_favorite,
    bytes = bytes - old.file_size WHERE category_id = old.category_id;
    UPDATE category_totals SET photos = photos + 1, favorites = favorites + new.is_favorite,
    bytes = bytes + new.file_size WHERE category_id = new.category_id;
END;
CREATE TRIGGER photo_search_insert AFTER INSERT ON photos
WHEN NOT EXISTS (SELECT 1 FROM photo_search_paused) BEGIN
    INSERT INTO photo_search (rowid, text) VALUES (((32767 - ((max(-8796093022208, min(8796093022207, new.shown_at)) + 8796093022208) >> 29)) << 48 | (new.id & 281474976710655)), new.search_text || char(10, 10, 768 + (new.category_id >> 6 & 63), 768 + (new.category_id & 63)) || iif(new.is_favorite, 'FFF', ''));
END;
CREATE TRIGGER photo_search_mark AFTER UPDATE OF category_id, is_favorite ON photos
WHEN (old.category_id <> new.category_id OR old.is_favorite <> new.is_favorite) AND NOT (old.id <> new.id OR old.shown_at <> new.shown_at OR old.search_text <> new.search_text)
    AND NOT EXISTS (SELECT 1 FROM photo_search_paused)
BEGIN
    INSERT INTO photo_search (photo_search, rowid, text) VALUES ('delete', ((32767 - ((max(-8796093022208, min(8796093022207, old.shown_at)) + 8796093022208) >> 29)) << 48 | (old.id & 281474976710655)), char(10, 10, 768 + (old.category_id >> 6 & 63), 768 + (old.category_id & 63)) || iif(old.is_favorite, 'FFF', ''));
    INSERT INTO photo_search (rowid, text) VALUES (((32767 - ((max(-8796093022208, min(8796093022207, new.shown_at)) + 8796093022208) >> 29)) << 48 | (new.id & 281474976710655)), char(10, 10, 768 + (new.category_id >> 6 & 63), 768 + (new.category_id & 63)) || iif(new.is_favorite, 'FFF', ''));
END;
CREATE TRIGGER sealed_fields_of_photo AFTER DELETE ON photos
WHEN NOT EXISTS (SELECT 1 FROM sealed_fields_held) BEGIN
    DELETE FROM sealed_fields WHERE photo_uuid = old.uuid
        AND NOT EXISTS (SELECT 1 FROM trash WHERE uuid = old.uuid);
END;
CREATE TRIGGER sealed_fields_of_trash AFTER DELETE ON trash BEGIN
    DELETE FROM sealed_fields WHERE photo_uuid = old.uuid
        AND NOT EXISTS (SELECT 1 FROM trash WHERE uuid = old.uuid)
        AND NOT EXISTS (SELECT 1 FROM photos WHERE uuid = old.uuid);
END;
CREATE TRIGGER photos_other_picture AFTER UPDATE OF content_digest ON photos
WHEN old.content_digest <> new.content_digest AND new.last_decision IS NOT NULL BEGIN
    UPDATE photos SET last_decision = NULL WHERE id = new.id;
END;
CREATE TRIGGER cameras_insert AFTER INSERT ON photos WHEN new.camera IS NOT NULL BEGIN
    INSERT INTO cameras (name, photos) SELECT new.camera, 1 WHERE new.camera IS NOT NULL
        ON CONFLICT (name) DO UPDATE SET photos = photos + 1;
END;
CREATE TRIGGER cameras_delete AFTER DELETE ON photos WHEN old.camera IS NOT NULL BEGIN
    UPDATE cameras SET photos = photos - 1 WHERE name = old.camera;
    DELETE FROM cameras WHERE name = old.camera AND photos = 0;
END;
CREATE TRIGGER cameras_update AFTER UPDATE OF camera ON photos WHEN old.camera IS NOT new.camera BEGIN
    UPDATE cameras SET photos = photos - 1 WHERE name = old.camera;
    DELETE FROM cameras WHERE name = old.camera AND photos = 0;
    INSERT INTO cameras (name, photos) SELECT new.camera, 1 WHERE new.camera IS NOT NULL
        ON CONFLICT (name) DO UPDATE SET photos = photos + 1;
END;
CREATE TRIGGER photo_days_insert AFTER INSERT ON photos BEGIN
    INSERT INTO photo_days (day, category_id, photos, favorites)
    VALUES (new.shown_at / 86400000 - (new.shown_at % 86400000 < 0), new.category_id, 1, new.is_favorite)
    ON CONFLICT (day, category_id) DO UPDATE SET photos = photos + 1, favorites = favorites + new.is_favorite;
END;
CREATE TRIGGER photo_days_delete AFTER DELETE ON photos BEGIN
    UPDATE photo_days SET photos = photos - 1, favorites = favorites - old.is_favorite
    WHERE day = old.shown_at / 86400000 - (old.shown_at % 86400000 < 0) AND category_id = old.category_id;
DELETE FROM photo_days WHERE day = old.shown_at / 86400000 - (old.shown_at % 86400000 < 0) AND category_id = old.category_id AND photos = 0;
END;
CREATE TRIGGER photo_days_update AFTER UPDATE OF category_id, is_favorite, created_at, taken_at ON photos
WHEN old.category_id <> new.category_id OR old.is_favorite <> new.is_favorite OR old.shown_at <> new.shown_at
BEGIN
    UPDATE photo_days SET photos = photos - 1, favorites = favorites - old.is_favorite
    WHERE day = old.shown_at / 86400000 - (old.shown_at % 86400000 < 0) AND category_id = old.category_id;
DELETE FROM photo_days WHERE day = old.shown_at / 86400000 - (old.shown_at % 86400000 < 0) AND category_id = old.category_id AND photos = 0;
    INSERT INTO photo_days (day, category_id, photos, favorites)
    VALUES (new.shown_at / 86400000 - (new.shown_at % 86400000 < 0), new.category_id, 1, new.is_favorite)
    ON CONFLICT (day, category_id) DO UPDATE SET photos = photos + 1, favorites = favorites + new.is_favorite;
END;
CREATE TRIGGER swipe_session_ended AFTER UPDATE OF ended_at ON swipe_sessions
WHEN new.ended_at IS NOT NULL AND EXISTS (SELECT 1 FROM swipe_session_forgotten WHERE session_id = new.id)
BEGIN
    UPDATE swipe_sessions SET forgotten_photos = forgotten_photos + (
        SELECT count(*) FROM swipe_session_forgotten f WHERE f.session_id = new.id AND NOT EXISTS (
            SELECT 1 FROM swipe_actions a WHERE a.session_id = new.id AND a.photo_uuid = f.photo_uuid))
    WHERE id = new.id;
    DELETE FROM swipe_session_forgotten WHERE session_id = new.id;
END;
CREATE TRIGGER overwritten_goes_with_its_job AFTER DELETE ON jobs
BEGIN
    DELETE FROM overwritten WHERE job = old.id;
END;
CREATE TRIGGER photo_search_delete AFTER DELETE ON photos
WHEN NOT EXISTS (SELECT 1 FROM photo_search_paused) BEGIN
    INSERT INTO photo_search (photo_search, rowid, text) VALUES ('delete', ((32767 - ((max(-8796093022208, min(8796093022207, old.shown_at)) + 8796093022208) >> 29)) << 48 | (old.id & 281474976710655)), old.search_text || char(10, 10, 768 + (old.category_id >> 6 & 63), 768 + (old.category_id & 63)) || iif(old.is_favorite, 'FFF', ''));
END;
CREATE TRIGGER known_files_of_another_source AFTER UPDATE OF source_digest ON photos
WHEN old.source_digest <> new.source_digest
BEGIN
    DELETE FROM known_files WHERE photo_id = old.id;
END;
CREATE TRIGGER photo_search_update AFTER UPDATE OF id, created_at, taken_at, search_text ON photos
WHEN old.id <> new.id OR old.shown_at <> new.shown_at OR old.search_text <> new.search_text BEGIN
    INSERT INTO photo_search (photo_search, rowid, text) VALUES ('delete', ((32767 - ((max(-8796093022208, min(8796093022207, old.shown_at)) + 8796093022208) >> 29)) << 48 | (old.id & 281474976710655)), old.search_text || char(10, 10, 768 + (old.category_id >> 6 & 63), 768 + (old.category_id & 63)) || iif(old.is_favorite, 'FFF', ''));
    INSERT INTO photo_search (rowid, text) VALUES (((32767 - ((max(-8796093022208, min(8796093022207, new.shown_at)) + 8796093022208) >> 29)) << 48 | (new.id & 281474976710655)), new.search_text || char(10, 10, 768 + (new.category_id >> 6 & 63), 768 + (new.category_id & 63)) || iif(new.is_favorite, 'FFF', ''));
END;
